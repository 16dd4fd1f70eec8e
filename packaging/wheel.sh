#!/usr/bin/env bash
# wheel.sh TARGET STAGE OUT: a wheel whose script is the program itself, so no Python starts with it.
set -euo pipefail
# shellcheck source=packaging/lib.sh
. "$(dirname -- "$0")/lib.sh"
[[ $# = 3 ]] || die 'usage: wheel.sh TARGET STAGE OUT'
python3 - "$version" "$description" "$(column "$1" 4)" "$2" "$3" <<'END'
import base64, hashlib, os, sys, time, zipfile

version, description, platforms, stage, out = sys.argv[1:]
epoch = max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800)  # Zip knows no time before 1980.
data, info = f"hookrun-{version}.data", f"hookrun-{version}.dist-info"

def read(name):
    with open(os.path.join(stage, name), "rb") as file:
        return file.read()

files = [(f"{data}/scripts/hookrun", read("bin/hookrun"), 0o755)]
for page in sorted(os.listdir(os.path.join(stage, "man"))):
    section = page.removesuffix(".gz")[-1]
    files.append((f"{data}/data/share/man/man{section}/{page}", read(f"man/{page}"), 0o644))
for name, place in (
    ("hookrun.bash", "bash-completion/completions/hookrun"),
    ("_hookrun", "zsh/site-functions/_hookrun"),
    ("hookrun.fish", "fish/vendor_completions.d/hookrun.fish"),
):
    files.append((f"{data}/data/share/{place}", read(f"completions/{name}"), 0o644))
for name in ("LICENSE-APACHE", "LICENSE-MIT"):
    files.append((f"{info}/licenses/{name}", read(name), 0o644))
metadata = f"""Metadata-Version: 2.4
Name: hookrun
Version: {version}
Summary: {description}
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
Requires-Python: >=3.8
Description-Content-Type: text/markdown

""".encode() + read("README.md")
tags = "".join(f"Tag: py3-none-{tag}\n" for tag in platforms.split("."))
wheel = f"Wheel-Version: 1.0\nGenerator: hookrun\nRoot-Is-Purelib: false\n{tags}".encode()
files += [(f"{info}/METADATA", metadata, 0o644), (f"{info}/WHEEL", wheel, 0o644)]
record = ""
for name, content, _ in files:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    record += f"{name},sha256={digest},{len(content)}\n"
files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644))
target = os.path.join(out, f"hookrun-{version}-py3-none-{platforms}.whl")
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for name, content, mode in files:
        entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3
        archive.writestr(entry, content, compresslevel=9)
END
