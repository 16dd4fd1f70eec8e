#!/usr/bin/env -S python3 -IS
# Refuses a Terraform plan that destroys what holds data, opens administration to the internet,
# or makes storage public or unencrypted.
#
#   terraform plan -out=plan.bin && terraform show -json plan.bin >plan.json
#   echo '{"path": "plan.json"}' | hookrun run plan.pre --hooks gates && terraform apply plan.bin
#
# Only what the plan changes is judged; what is there already and stays is not. It knows the
# resources in the tables below, of AWS, Google and Azure, and no others. An address range that
# is known only after apply is a warning, as it cannot be judged. Findings point to the resource
# in its .tf file where its module is in the repository, else to the plan.
#
# Tune:
#   HOOKRUN_PLAN_ALLOW     rules to leave out, separated by spaces: destroy open-port public
#                          unencrypted; or RULE:ADDRESS for one resource
#   HOOKRUN_PLAN_PROTECT   types that must not be destroyed, instead of the usual ones; globs
#   HOOKRUN_PLAN_PORTS     ports that nobody opens to the internet (default: 22 3389)
#
# hookrun: timeout=30s

import fnmatch
import ipaddress
import json
import os
import re
import sys

PROTECTED = """
    aws_db_instance aws_rds_cluster* aws_dynamodb_table aws_s3_bucket aws_efs_file_system aws_ebs_volume
    aws_redshift_cluster aws_elasticache_* aws_opensearch_domain aws_kms_key aws_route53_zone aws_backup_vault
    google_sql_database* google_storage_bucket google_bigquery_* google_spanner_* google_bigtable_*
    google_compute_disk google_kms_* google_dns_managed_zone google_filestore_instance
    azurerm_*sql* azurerm_postgresql* azurerm_mysql* azurerm_cosmosdb_* azurerm_storage_account
    azurerm_storage_container azurerm_managed_disk azurerm_key_vault* azurerm_dns_zone
""".split()

# Where a resource says that what it stores is encrypted. Left out or unknown means that it may
# not be. Google and Azure encrypt all storage.
ENCRYPTED_BY = {
    "aws_db_instance": "storage_encrypted",
    "aws_rds_cluster": "storage_encrypted",
    "aws_ebs_volume": "encrypted",
    "aws_efs_file_system": "encrypted",
    "aws_redshift_cluster": "encrypted",
    "aws_elasticache_replication_group": "at_rest_encryption_enabled",
}

# Where the address ranges stand that a resource lets in.
ADDRESSES = """
    ingress cidr_blocks ipv6_cidr_blocks cidr_ipv4 cidr_ipv6 source_ranges
    security_rule source_address_prefix source_address_prefixes
""".split()

# Values that make a thing public: type, attribute, values.
PUBLIC = [
    ("aws_s3_bucket", "acl", ["public-read", "public-read-write", "authenticated-read"]),
    ("aws_s3_bucket_acl", "acl", ["public-read", "public-read-write", "authenticated-read"]),
    ("aws_s3_bucket_public_access_block", "block_public_acls", [False]),
    ("aws_s3_bucket_public_access_block", "block_public_policy", [False]),
    ("aws_s3_bucket_public_access_block", "ignore_public_acls", [False]),
    ("aws_s3_bucket_public_access_block", "restrict_public_buckets", [False]),
    ("aws_db_instance", "publicly_accessible", [True]),
    ("google_storage_bucket_iam_member", "member", ["allUsers", "allAuthenticatedUsers"]),
    ("google_storage_bucket_iam_binding", "members", ["allUsers", "allAuthenticatedUsers"]),
    ("google_storage_bucket_access_control", "entity", ["allUsers", "allAuthenticatedUsers"]),
    ("google_storage_default_object_access_control", "entity", ["allUsers", "allAuthenticatedUsers"]),
    ("azurerm_storage_account", "allow_nested_items_to_be_public", [True]),
    ("azurerm_storage_container", "container_access_type", ["blob", "container"]),
]

MOST_FINDINGS = 50  # A wall of them says no more, and an answer has a limit.


class Refusal(Exception):
    """The plan cannot be judged."""


def listed(value):
    """A value, a list of them or nothing, as a list."""
    return [] if value is None else value if isinstance(value, list) else [value]


def is_world(text):
    """Whether an address range holds most of the internet: 0.0.0.0/0, or one cut in a few."""
    if str(text).strip().lower() in ("*", "internet", "any"):
        return True
    try:
        network = ipaddress.ip_network(str(text).strip(), strict=False)
    except ValueError:
        return False  # The name of a group of addresses, a tag.
    return network.prefixlen < (8 if network.version == 4 else 16)


def span(text):
    """A port or range of ports ("20-30", 22, "*") as first and last."""
    text = str(text).strip()
    if text in ("*", ""):
        return 0, 65535
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def openings(kind, after):
    """What a resource lets in: address ranges, and the first and last port."""

    def ports_of(protocol, first, last):
        protocol = str(protocol).lower()
        if protocol in ("udp", "17", "icmp", "1", "icmpv6", "58"):
            return ()  # Nobody administers by these.
        if protocol in ("-1", "all", "*") or first is None or last is None:
            return 0, 65535
        return int(first), int(last)

    if kind in ("aws_security_group", "aws_default_security_group", "aws_security_group_rule"):
        for one in listed(after.get("ingress")) if "ingress" in after else [after]:
            if one.get("type", "ingress") == "ingress":
                sources = listed(one.get("cidr_blocks")) + listed(one.get("ipv6_cidr_blocks"))
                yield sources, ports_of(one.get("protocol"), one.get("from_port"), one.get("to_port"))
    elif kind == "aws_vpc_security_group_ingress_rule":
        sources = [after.get("cidr_ipv4"), after.get("cidr_ipv6")]
        yield sources, ports_of(after.get("ip_protocol"), after.get("from_port"), after.get("to_port"))
    elif kind == "google_compute_firewall":
        if (after.get("direction") or "INGRESS") == "INGRESS" and not after.get("disabled"):
            for allow in listed(after.get("allow")):
                for ports in listed(allow.get("ports")) or ["*"]:
                    yield listed(after.get("source_ranges")), ports_of(allow.get("protocol"), *span(ports))
    elif kind in ("azurerm_network_security_rule", "azurerm_network_security_group"):
        for one in [after] if kind.endswith("_rule") else listed(after.get("security_rule")):
            if (one.get("direction"), one.get("access")) == ("Inbound", "Allow"):
                sources = listed(one.get("source_address_prefix")) + listed(one.get("source_address_prefixes"))
                for ports in listed(one.get("destination_port_range")) + listed(one.get("destination_port_ranges")):
                    yield sources, ports_of(one.get("protocol"), *span(ports))


def unknown_addresses(unknown):
    """The address ranges in a part of `after_unknown`."""
    for name, value in unknown.items():
        if name in ("ingress", "security_rule") and isinstance(value, list):
            for one in (one for one in value if isinstance(one, dict)):
                yield from unknown_addresses(one)
        elif name in ADDRESSES and any(one is True for one in listed(value)):
            yield name


def is_open_policy(text):
    """Whether a policy, as JSON in a string, allows something to everybody, unconditionally."""
    try:
        statements = listed(json.loads(text).get("Statement"))
    except (ValueError, TypeError, AttributeError):
        return False
    for one in statements:
        principal = one.get("Principal")
        who = listed(principal.get("AWS")) if isinstance(principal, dict) else listed(principal)
        if one.get("Effect") == "Allow" and "*" in who and not one.get("Condition"):
            return True
    return False


def judge(change, ports, protected):
    """What is wrong with one resource's change: rule, level, message."""
    kind, actions = change["type"], change["change"]["actions"]
    if "delete" in actions and any(fnmatch.fnmatchcase(kind, glob) for glob in protected):
        how = "replaced, and with it what it holds" if "create" in actions else "destroyed"
        yield "destroy", "error", f"it would be {how}"
    if "create" not in actions and "update" not in actions:
        return
    after = change["change"].get("after") or {}
    unknown = change["change"].get("after_unknown") or {}

    for sources, opened in openings(kind, after):
        for source in filter(is_world, sources):
            for port in (port for port in ports if opened and opened[0] <= port <= opened[1]):
                yield "open-port", "error", f"port {port} is open to {source}"
    for name in unknown_addresses(unknown) if after.get("type") != "egress" else ():
        yield "open-port", "warning", f"`{name}` is known only after apply: whom it lets in was not judged"

    for public_kind, name, values in PUBLIC:
        if kind == public_kind:
            for value in (value for value in listed(after.get(name)) if value in values):
                yield "public", "error", f"`{name}` is {json.dumps(value)}: that is public"
    if kind in ("aws_s3_bucket_policy", "aws_s3_bucket") and is_open_policy(after.get("policy")):
        yield "public", "error", "its policy allows something to everybody"

    name = ENCRYPTED_BY.get(kind)
    if name and str(after.get(name)).lower() != "true":
        yield "unencrypted", "error", f"it is stored unencrypted; set `{name} = true`"
    if kind == "aws_instance":
        for disk in listed(after.get("root_block_device")) + listed(after.get("ebs_block_device")):
            if disk.get("encrypted") is not True:
                yield "unencrypted", "error", "a disk of it is unencrypted; set `encrypted = true`"


class Sources:
    """Where a resource stands: its .tf file and line, if its module is in the repository."""

    def __init__(self, plan, root):
        self.modules = (plan.get("configuration") or {}).get("root_module") or {}
        self.root = root
        self.known = {}

    def folder(self, module_address):
        folder, module = self.root, self.modules
        # module.net["a"].module.subnet: the names, without what stands in brackets.
        for name in re.findall(r'(?:^|\.)module\.([^.\[]+)(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])?', module_address or ""):
            call = (module.get("module_calls") or {}).get(name) or {}
            source = call.get("source") or ""
            if not source.startswith(("./", "../")):
                return None
            folder, module = os.path.normpath(os.path.join(folder, source)), call.get("module") or {}
        return folder

    def find(self, change):
        folder = self.folder(change.get("module_address"))
        if folder is None:
            return None
        if folder not in self.known:
            self.known[folder] = dict(self.read(folder))
        return self.known[folder].get((change["type"], change["name"]))

    @staticmethod
    def read(folder):
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".tf"))
        except OSError:
            return
        for name in names:
            path = os.path.join(folder, name)
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    for line, text in enumerate(file, 1):
                        if found := re.match(r'\s*resource\s+"([^"]+)"\s+"([^"]+)"', text):
                            yield found.groups(), {"path": shown(path), "line": line}
            except OSError:
                continue


def read_plan(path):
    try:
        with open(path, encoding="utf-8") as file:
            plan = json.load(file)
    except OSError as error:
        raise Refusal(f"`{path}` cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Refusal(f"`{path}` is not JSON ({error}); write it with `terraform show -json PLAN >{path}`") from None
    if not isinstance(plan, dict) or "format_version" not in plan:
        raise Refusal(f"`{path}` is not from `terraform show -json`: it has no `format_version`")
    if str(plan["format_version"]).split(".")[0] not in ("0", "1"):
        raise Refusal(f"`{path}` has the format {plan['format_version']}, which this gate does not know")
    if "resource_changes" not in plan and "planned_values" not in plan:
        raise Refusal(f"`{path}` is a state and no plan: give `terraform show -json` the file of `terraform plan -out`")
    if plan.get("errored"):
        raise Refusal(f"`{path}` is of a plan that failed, and does not have all changes")
    return plan


def is_here(cwd):
    """Whether we are in the event's `cwd`: hookrun starts a hook elsewhere if there is no such folder."""
    if os.path.isabs(cwd):
        return os.path.isdir(cwd) and os.path.samefile(cwd, ".")
    return f"{os.getcwd()}/".endswith(os.path.join("/", os.path.normpath(cwd), "")) or os.path.normpath(cwd) == "."


def shown(path):
    """A path as seen from the project's root, where annotations are looked for."""
    root, whole = os.path.realpath(os.environ.get("HOOKRUN_PROJECT_DIR", ".")), os.path.realpath(path)
    return os.path.relpath(whole, root) if whole.startswith(os.path.join(root, "")) else path


def context():
    """The event: the plan, and the folder of its root module."""
    event = json.load(sys.stdin.buffer)
    path = event.get("path")
    if not isinstance(path, str) or not path:
        raise Refusal('the event has no `path`: {"path": "plan.json"}')
    if event.get("cwd") is not None and not is_here(event["cwd"]):
        raise Refusal(f"there is no folder `{event['cwd']}`")
    return path, event.get("sources") or os.path.dirname(path) or "."


def check(path, folder):
    plan = read_plan(path)
    allowed = os.environ.get("HOOKRUN_PLAN_ALLOW", "").split()
    protected = os.environ.get("HOOKRUN_PLAN_PROTECT", "").split() or PROTECTED
    try:
        ports = [int(port) for port in (os.environ.get("HOOKRUN_PLAN_PORTS") or "22 3389").split()]
    except ValueError:
        raise Refusal("HOOKRUN_PLAN_PORTS is a list of numbers: `22 3389`") from None
    sources, findings = Sources(plan, folder), []
    for number, change in enumerate(plan.get("resource_changes") or []):
        try:
            if change.get("mode") == "data":
                continue
            address, place = change["address"], None
            for rule, level, message in dict.fromkeys(judge(change, ports, protected)):
                if rule in allowed or f"{rule}:{address}" in allowed:
                    continue
                place = place or sources.find(change) or {"path": shown(path)}
                findings.append({**place, "level": level, "message": f"{address}: {message} [{rule}]"})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Refusal(f"`resource_changes.{number}` of `{path}` cannot be read: {error!r}") from None
    return findings


def main():
    try:
        path, folder = context()
        findings = check(path, folder)
    except (Refusal, OSError, TypeError) as refusal:
        sys.exit(f"the plan was not judged: {refusal}")
    if not findings:
        return
    findings.sort(key=lambda finding: finding["level"] != "error")
    answer = {"findings": findings[:MOST_FINDINGS]}
    errors = [finding["message"] for finding in findings if finding["level"] == "error"]
    if errors:
        told = errors[:MOST_FINDINGS] + [f"and {len(errors) - MOST_FINDINGS} more"] * (len(errors) > MOST_FINDINGS)
        answer.update({"continue": False, "reason": "the plan is refused:\n" + "\n".join(told)})
    print(json.dumps(answer))


main()
