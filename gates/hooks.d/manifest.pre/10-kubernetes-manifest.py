#!/usr/bin/env -S python3 -IS
# Blocks Kubernetes manifests whose containers could take over or exhaust their node, that grant full
# access, or that contain a secret.
#
#   kubectl kustomize overlays/prod >manifests.yaml
#   echo '{"path": "manifests.yaml"}' | hookrun run manifest.pre --hooks gates
#
# The input is YAML or JSON: one or more documents, a list (`kubectl get -o json`), or an array.
# `hookrun hook json` reads YAML, with the booleans and numbers of the cluster (`yes`, `010`).
#
#   privileged            a container or a pod is privileged, with full access to the node
#   privilege-escalation  `allowPrivilegeEscalation: true`
#   capabilities          a potentially harmful capability
#   root                  a container runs as root, or may
#   host-path             a volume mounts a folder of the node
#   host-namespace        a pod shares a namespace of the node
#   latest                an image without a version
#   limits-memory         no limit for memory, or one that is not a quantity above 0
#   limits-cpu            a limit for CPU that is not a quantity above 0; with
#                         HOOKRUN_MANIFEST_REQUIRE also none. Without a limit a container may use
#                         idle CPU, and many do without one.
#   rbac                  a role that can change all resources; a binding that grants cluster-admin, or
#                         any role to anonymous users
#   secret                a Secret with unencrypted values; SOPS-encrypted values and placeholders pass
#
# Pods are found in Pod, PodTemplate, Deployment, ReplicaSet, ReplicationController, StatefulSet,
# DaemonSet, Job and CronJob, which must have the form that Kubernetes accepts. To cover custom
# resources, any other object with containers counts as a pod too, at any depth and of any kind:
# `containers` (`initContainers`, `ephemeralContainers`) is a list or an object of containers, one of
# them with an `image`; or `container` or `script` (Argo Workflows) is one, or `steps` or `sidecars`
# (Tekton) has some. A container there without `image` modifies or describes another one: only
# the keys that it has are checked. A key of that name with another shape, such as in the schema of a
# CustomResourceDefinition or as text in a ConfigMap, is ignored. Of a PersistentVolume, `hostPath`
# and `local` are checked.
# Defaults added by the cluster (admission webhooks, a LimitRange) are unknown here.
# Findings point to the first line of the container or the pod.
#
# Settings:
#   HOOKRUN_MANIFEST_ALLOW     rules to skip, separated by spaces, and form for pods in other kinds
#                              that cannot be read; or RULE:NAME for the object of that name
#   HOOKRUN_MANIFEST_REQUIRE   further rules to apply: limits-cpu, which blocks a missing limit too
#
# hookrun: timeout=30s

import base64
import difflib
import json
import os
import re
import subprocess
import sys

KEYS = ["path", "cwd"]
RULES = """
    privileged privilege-escalation capabilities root host-path host-namespace latest limits-memory
    limits-cpu rbac secret form
""".split()
REQUIRED = ["limits-cpu"]

# Where the pod stands in the kinds that have one, and the API groups that these are of.
POD_IN = {
    "Pod": "spec",
    "PodTemplate": "template.spec",
    "Deployment": "spec.template.spec",
    "ReplicaSet": "spec.template.spec",
    "ReplicationController": "spec.template.spec",
    "StatefulSet": "spec.template.spec",
    "DaemonSet": "spec.template.spec",
    "Job": "spec.template.spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
GROUPS = ["", "apps", "batch", "extensions"]

HOST_NAMESPACES = ["hostNetwork", "hostPID", "hostIPC"]
HARMLESS_CAPABILITIES = ["NET_BIND_SERVICE", "CHOWN", "SETUID", "SETGID", "FOWNER", "DAC_OVERRIDE", "KILL"]
CONTAINERS = ["containers", "initContainers", "ephemeralContainers"]
# Of pipelines: one container, or a list of them, each with an `image`.
ONE_CONTAINER = ["container", "script"]
STEPS = ["steps", "sidecars"]
RBAC = "rbac.authorization.k8s.io"
CHANGES = ["*", "create", "update", "patch", "delete", "deletecollection"]
EVERYBODY = ["system:anonymous", "system:unauthenticated"]
# Values of a Secret that are none yet: of SOPS, of envsubst and of templates.
PLACEHOLDER = re.compile(r"ENC\[.*\]|\$\{?\w+\}?|\$\(\w+\)|<[^<>]+>|\{\{.*\}\}|", re.DOTALL)
NODE_VOLUMES = ["hostPath", "local"]
MOST_FINDINGS = 50  # A wall of them says no more, and an answer has a limit.

# [HOST[:PORT]/]PATH[:TAG][@DIGEST], as container runtimes read it.
IMAGE = re.compile(
    r"(?:(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(?P<digest>@(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}))?"
)

# The number of a quantity, and its unit.
QUANTITY = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?")


class Blocked(Exception):
    """The manifests cannot be judged."""


class Form(Exception):
    """A part of an object is not of the form that Kubernetes takes."""


class Object(dict):
    """A JSON object that knows the line on which it begins."""

    line = 1


def is_json(text, path):
    """Whether to read a text as JSON: its name says so, or its beginning where the name says nothing."""
    ending = os.path.splitext(path)[1].lower()
    return ending == ".json" or ending not in (".yaml", ".yml") and text.lstrip()[:1] in ("{", "[")


def of_yaml(text, path):
    """YAML as JSON, with every value on its line."""
    own = f"/proc/{os.getppid()}/exe"
    is_own = os.path.basename(os.path.realpath(own)).startswith("hookrun")
    try:
        command = [own if is_own else "hookrun", "hook", "json", "yaml"]
        ran = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Blocked(f"cannot start `hookrun` to read the YAML in `{path}`: {error.strerror}") from None
    if ran.returncode != 0:
        said = ran.stderr.decode("utf-8", "replace").strip().removeprefix("error: ").replace(" of stdin", "")
        raise Blocked(f"`{path}` is not YAML ({said})")
    return ran.stdout.decode()


def documents(text, path):
    """The documents in a text, one after the other."""
    if not is_json(text, path):
        text = of_yaml(text, path)
    # Objects are finished in the order of their closing braces, here and in the parser.
    lines, opened, line = [], [], 1
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\n]', text):
        token = token.group()
        if token == "\n":
            line += 1
        elif token == "{":
            opened.append(line)
        elif token == "}" and opened:
            lines.append(opened.pop())
    lines = iter(lines)

    def no_number(word):
        raise ValueError(f"{word} is not a valid number")

    def finished(pairs):
        one = Object(pairs)
        one.line = next(lines)
        if len(one) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise Blocked(f"{path}:{one.line}: `{twice}` appears twice in one object, and parsers disagree on which one counts")
        return one

    decoder, at, found = json.JSONDecoder(object_pairs_hook=finished, parse_constant=no_number), 0, []
    while rest := re.compile(r"\s*(?=\S)").match(text, at):
        try:
            document, at = decoder.raw_decode(text, rest.end())
        except (ValueError, RecursionError) as error:
            said = f"{error.msg} in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else error
            raise Blocked(f"`{path}` is not JSON ({said})") from None
        if document is not None:  # An empty document of YAML; kubectl passes over it, too.
            found.append(document)
    return found


def objects(document, path, usual=None):
    """The Kubernetes objects of a document; `usual` is what those of a list need not repeat."""
    if isinstance(document, list):
        for one in document:
            yield from objects(one, path)
        return
    if usual and isinstance(document, Object):
        for name, value in usual.items():
            document.setdefault(name, value)
    if not isinstance(document, Object) or not isinstance(document.get("kind"), str):
        line = getattr(document, "line", 1)
        raise Blocked(f"{path}:{line}: this is not a Kubernetes object: it has no valid `kind`")
    rest = Object(document)
    rest.line = document.line
    kind = document["kind"]
    of = kind.removesuffix("List")
    # A custom resource whose kind ends so may hold anything.
    if of != kind and (of in ("", "PersistentVolume", *POD_IN) or is_objects(document.get("items"))):
        items = rest.pop("items", None) or []
        if not isinstance(items, list):
            raise Blocked(f"{path}:{document.line}: the `items` of this {kind} must be a list")
        for one in items:
            yield from objects(one, path, of and {"kind": of, "apiVersion": document.get("apiVersion")})
    yield rest


def is_objects(items):
    """Whether all of them are Kubernetes objects."""
    return isinstance(items, list) and all(isinstance(one, dict) and "kind" in one for one in items)


def part(value, name):
    """A field that is an object; an empty one where it is not set."""
    inner = value.get(name)
    if inner is None:
        return Object()
    if not isinstance(inner, Object):
        raise Form(f"`{name}` must be an object")
    return inner


def listed(value, name, sort=Object):
    """A field that is a list of objects, or of what else; an empty one where it is not set."""
    inner = value.get(name)
    if inner is None:
        return []
    if not isinstance(inner, list) or not all(isinstance(one, sort) for one in inner):
        raise Form(f"`{name}` must be a list of {'objects' if sort is Object else 'strings'}")
    return inner


def flag(value, name):
    """A field that is true or false; null, and left out, is None."""
    inner = value.get(name)
    if inner is not None and not isinstance(inner, bool):
        raise Form(f"`{name}` must be true or false")
    return inner


def user_of(value):
    """`runAsUser`: null, and left out, is None."""
    user = value.get("runAsUser")
    if user is not None and (not isinstance(user, int) or isinstance(user, bool) or user < 0):
        raise Form("`runAsUser` must be an integer, 0 or greater")
    return user


def group_of(one):
    return str(one.get("apiVersion") or "").rpartition("/")[0]


def own_pod(one):
    """The pod of an object of a kind that has one."""
    where = POD_IN.get(one["kind"]) if group_of(one) in GROUPS else None
    if where is None:
        return None
    pod = one
    for step in where.split("."):
        pod = part(pod, step)
    if not any(listed(pod, sort) for sort in CONTAINERS):
        raise Form(f"`{where}.containers` must be a non-empty list of objects")
    return pod


def is_pod(value):
    """Whether an object has containers, and not only something of that name."""
    for inner in map(value.get, CONTAINERS):
        if isinstance(inner, list) or isinstance(inner, dict) and is_by_name(inner):
            return True
    return is_pipeline(value)


def is_pipeline(value):
    """Whether an object has the containers of a pipeline."""
    return any(containers_of(value, sort) for sort in [*ONE_CONTAINER, *STEPS])


def is_by_name(containers):
    """Whether these are containers by their names."""
    inner = list(containers.values())
    return all(isinstance(one, dict) for one in inner) and any(isinstance(one.get("image"), str) for one in inner)


def hidden_pods(one, known):
    """Every other object with containers, at any depth. Pods of a pipeline have its `securityContext`
    where they have none."""
    waiting = [(one, None)]
    while waiting:
        value, context = waiting.pop()
        if isinstance(value, dict):
            template = value.get("podTemplate")
            of_template = template.get("securityContext") if isinstance(template, dict) else None
            context = value.get("securityContext") or of_template or context
            if value is not known and is_pod(value):
                pod = Object(value)
                pod.line = value.line
                if is_pipeline(value):
                    pod["securityContext"] = context
                yield pod
            waiting.extend((inner, context) for inner in reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend((inner, context) for inner in reversed(value))


def containers_of(pod, sort):
    """The containers of one sort, be it that they stand under their names."""
    inner = pod.get(sort)
    if sort in ONE_CONTAINER or sort in STEPS:
        all_of = inner if isinstance(inner, list) and sort in STEPS else [inner]
        return [one for one in all_of if isinstance(one, Object) and isinstance(one.get("image"), str)]
    if isinstance(inner, Object):
        return [one for one in inner.values() if isinstance(one, Object)]
    return [one for one in inner or [] if isinstance(one, Object)] if isinstance(inner, list) else []


def judge_pod(pod, is_own):
    """What is wrong with a pod: rule, line, message."""
    parts = [judge_namespaces(pod), judge_volumes(pod), judge_whole(pod)]
    for sort in CONTAINERS if is_own else [*CONTAINERS, *ONE_CONTAINER, *STEPS]:
        for container in containers_of(pod, sort):
            # One without an image, in another kind, only modifies another container.
            is_whole = is_own or container.get("image") is not None
            parts.append(judge_rights(container, pod, is_whole))
            parts.append(judge_image(container) if is_whole else [])
            parts.append(judge_limits(container, is_whole and sort != "ephemeralContainers"))  # These may have none.
    for judged in parts:
        try:
            yield from judged
        except Form as form:
            if is_own:
                raise
            yield "form", pod.line, f"its pod spec is invalid: {form}"


def judge_namespaces(pod):
    for name in HOST_NAMESPACES:
        if flag(pod, name):
            yield "host-namespace", pod.line, f"`{name}` shares a namespace with the node"


def judge_volumes(pod):
    for volume in listed(pod, "volumes"):
        yield from judge_volume(volume, ["hostPath"], volume.get("name"))


def judge_whole(pod):
    if flag(part(part(pod, "securityContext"), "windowsOptions"), "hostProcess"):
        yield "privileged", pod.line, "the whole pod is privileged, with full access to the node"


def judge_volume(volume, sorts, name):
    """Whether a volume is a folder of the node."""
    for sort in sorts:
        if volume.get(sort) is not None:
            folder = part(volume, sort).get("path")
            yield "host-path", volume.line, f"the volume `{name}` mounts `{folder}` from the node"


def judge_rights(container, pod, is_whole):
    line, name, own = container.line, container.get("name") or "(unnamed)", part(container, "securityContext")
    if flag(own, "privileged") or flag(part(own, "windowsOptions"), "hostProcess"):
        yield "privileged", line, f"`{name}` is privileged, with full access to the node"
    if flag(own, "allowPrivilegeEscalation"):
        yield "privilege-escalation", line, f"`{name}` can escalate its privileges; set `allowPrivilegeEscalation: false`"
    for capability in listed(part(own, "capabilities"), "add", str):
        if capability.upper().removeprefix("CAP_") not in HARMLESS_CAPABILITIES:
            yield "capabilities", line, f"`{name}` adds the capability {capability}"

    # The container's own word goes before its pod's.
    of_pod = part(pod, "securityContext")
    user = user_of(own) if user_of(own) is not None else user_of(of_pod)
    not_root = flag(own, "runAsNonRoot")
    not_root = flag(of_pod, "runAsNonRoot") if not_root is None else not_root
    if user == 0:
        yield "root", line, f"`{name}` runs as root: `runAsUser` is 0"
    elif user is None and not not_root and (is_whole or not_root is False):
        yield "root", line, f"`{name}` may run as root; set `runAsNonRoot: true`"


def judge_image(container):
    line, name, image = container.line, container.get("name") or "(unnamed)", container.get("image")
    if not isinstance(image, str) or not image:
        yield "latest", line, f"`{name}` has no image"
        return
    read = IMAGE.fullmatch(image)
    if not read:
        yield "latest", line, f"`{name}` has the invalid image name `{image}`"
    elif not read["digest"] and read["tag"] in (None, "latest"):
        yield "latest", line, f"`{name}` runs `{image}` without a fixed version; pin a tag or a digest"


def judge_limits(container, is_needed):
    line, name = container.line, container.get("name") or "(unnamed)"
    # Tekton calls them `computeResources`.
    limits = part(part(container, "computeResources") or part(container, "resources"), "limits")
    for what in ("cpu", "memory"):
        rule = f"limits-{what}"
        is_due = rule not in REQUIRED or rule in words_of("HOOKRUN_MANIFEST_REQUIRE")
        if limits.get(what) is None and is_needed and is_due:
            yield rule, line, f"`{name}` has no {what} limit"
        if limits.get(what) is not None and not is_some(limits[what]):
            yield rule, line, f"`{name}` has the invalid {what} limit {json.dumps(limits[what])}; set a quantity above 0"


def is_some(quantity):
    """Whether a value is a quantity of Kubernetes (`500m`, `1.5Gi`, 2) above 0."""
    read = QUANTITY.fullmatch(str(quantity))
    return bool(read and re.search("[1-9]", read[1]))


def judge_roles(one):
    """Whether a role or a binding gives every right, or rights to everybody."""
    kind = one["kind"]
    if kind in ("Role", "ClusterRole"):
        for rule in listed(one, "rules"):
            verbs, resources = (listed(rule, name, str) for name in ("verbs", "resources"))
            if "*" in resources and any(verb in CHANGES for verb in verbs):
                yield "rbac", rule.line, "it can change all resources (`*`); list the resources that it needs"
    if kind not in ("RoleBinding", "ClusterRoleBinding"):
        return
    if part(one, "roleRef").get("name") == "cluster-admin":
        names = ", ".join(f"{subject.get('kind')} {subject.get('name')}" for subject in listed(one, "subjects"))
        yield "rbac", one.line, f"it grants full access (cluster-admin) to {names or 'nobody yet'}"
    for subject in listed(one, "subjects"):
        if subject.get("name") in EVERYBODY:
            yield "rbac", subject.line, f"it grants access without authentication ({subject['name']})"


def judge_secret(one):
    """Whether the values of a Secret stand in it."""
    for name in ("data", "stringData"):
        values = part(one, name)
        plain = [key for key, value in values.items() if value is not None and not is_placeholder(value, name)]
        if plain:
            yield "secret", values.line, f"it contains unencrypted values ({', '.join(plain)}); encrypt them, or let an operator fetch them"


def is_placeholder(value, name):
    text = str(value)
    if name == "data" and re.fullmatch(r"[A-Za-z0-9+/\s]+=*\s*", text):
        try:
            text = base64.b64decode(text).decode("utf-8", "replace")
        except ValueError:
            pass  # It is not base64, and the cluster takes it for nothing.
    return PLACEHOLDER.fullmatch(text.strip()) is not None


def judge(one):
    """What is wrong with an object: rule, line, message."""
    name, own = part(one, "metadata").get("name"), own_pod(one)
    if group_of(one) == RBAC:
        yield from judge_roles(one)
    if one["kind"] == "Secret" and group_of(one) == "":
        yield from judge_secret(one)
    if own is not None:
        yield from judge_pod(own, True)
    if one["kind"] == "PersistentVolume" and group_of(one) in GROUPS:
        yield from judge_volume(part(one, "spec"), NODE_VOLUMES, name)
    for pod in hidden_pods(one, own):
        yield from judge_pod(pod, False)


def meant(word, words):
    """The cure of a slip."""
    near = difflib.get_close_matches(word.lower(), words, 1)
    return f"did you mean `{near[0]}`?" if near else f"expected one of: {', '.join(words)}"


def words_of(variable):
    return os.environ.get(variable, "").split()


def allowed():
    """The rules that are left out."""
    for word in words_of("HOOKRUN_MANIFEST_REQUIRE"):
        if word not in REQUIRED:
            raise Blocked(f"HOOKRUN_MANIFEST_REQUIRE: `{word}` cannot be required; {meant(word, REQUIRED)}")
    words = words_of("HOOKRUN_MANIFEST_ALLOW")
    for word in words:
        rule, colon, name = word.partition(":")
        if rule not in RULES or (colon and not name):
            raise Blocked(f"HOOKRUN_MANIFEST_ALLOW: `{word}` is neither a rule nor RULE:NAME; {meant(rule, RULES)}")
    return words


def check_keys(event):
    """A key that is not known could be a slip, and what it should say would not count."""
    for key, value in event.items():
        if key not in [*KEYS, "event", "sessionId"]:
            raise Blocked(f"the event has an unknown key, `{key}`; {meant(key, KEYS)}")
        if not isinstance(value, str) or not value or "\0" in value:
            raise Blocked(f"`{key}` must be a non-empty string, not {json.dumps(value)}")


def is_same(path):
    try:
        return os.path.samefile(path, ".")
    except OSError:
        return False


def is_here(cwd):
    """Whether we are in the event's `cwd`: hookrun starts a hook elsewhere if there is no such folder."""
    if os.path.isdir(cwd):
        return True  # There is one even from here, so hookrun has found it.
    # It is seen from where hookrun is: the folder of our parent, or what the shell called its own.
    starts = [f"/proc/{os.getppid()}/cwd", os.environ.get("PWD", "")]
    if not any(map(is_same, starts)):
        starts.append(os.environ.get("HOOKRUN_PROJECT_DIR", ""))
    return any(is_same(os.path.join(start, cwd)) for start in starts)


def shown(path):
    """A path as annotations have it: from the root of its git work tree, else of the job or the project."""
    folder = os.path.realpath(os.path.dirname(path))
    whole, roots = os.path.join(folder, os.path.basename(path)), []
    ceilings = filter(None, os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep))
    ceilings = {"/", *map(os.path.realpath, ceilings)}
    while folder not in ceilings and not roots:
        roots += [folder] * os.path.exists(os.path.join(folder, ".git"))
        folder = os.path.dirname(folder)
    roots += map(os.path.realpath, filter(None, map(os.environ.get, ["GITHUB_WORKSPACE", "HOOKRUN_PROJECT_DIR"])))
    inside = [root for root in roots if whole.startswith(os.path.join(root, ""))]
    return os.path.relpath(whole, inside[0]) if inside else path


def check(event):
    check_keys(event)
    path, left_out = event["path"], allowed()
    if "cwd" in event and not is_here(event["cwd"]):
        raise Blocked(f"`cwd` is `{event['cwd']}`, which is not a folder")
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise Blocked(f"`{path}` is not UTF-8") from None
    except OSError as error:
        raise Blocked(f"`{path}` cannot be read: {error.strerror}") from None
    found = [one for document in documents(text, path) for one in objects(document, path)]
    if not found:
        raise Blocked(f"`{path}` contains no Kubernetes objects")
    findings = []
    for one in found:
        kind = one["kind"]
        try:
            name, judged = part(one, "metadata").get("name"), list(judge(one))
        except Form as form:
            raise Blocked(f"{path}:{one.line}: this {kind} is invalid: {form}") from None
        called = f"{kind}/{name}" if name else kind
        for rule, line, message in judged:
            if rule not in left_out and f"{rule}:{name}" not in left_out:
                findings.append({"path": shown(path), "line": line, "message": f"{called}: {message} [{rule}]"})
    return findings


def main():
    try:
        findings = check(json.load(sys.stdin.buffer))
    except RecursionError:
        sys.exit("the manifests were not checked: they are nested too deeply")
    except (Blocked, OSError) as problem:
        sys.exit(f"the manifests were not checked: {problem}")
    if findings:
        told = [f"{one['path']}:{one['line']}: {one['message']}" for one in findings[:MOST_FINDINGS]]
        told += [f"and {len(findings) - MOST_FINDINGS} more"] * (len(findings) > MOST_FINDINGS)
        reason = "the manifests are blocked:\n" + "\n".join(told)
        print(json.dumps({"continue": False, "reason": reason, "findings": findings[:MOST_FINDINGS]}))


main()
