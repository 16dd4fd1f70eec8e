import os
import subprocess
import sys

os.chdir(os.environ["HOOKRUN_PROJECT_DIR"])
if os.path.exists("test.sh"):
    command = ["sh", "./test.sh"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        said = "\n".join(ran.stdout.splitlines()[-20:])
        sys.exit(f"tests failed; fix them first:\n{said}")
