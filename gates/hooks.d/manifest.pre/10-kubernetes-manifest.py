#!/usr/bin/env -S python3 -IS
# Refuses Kubernetes manifests whose containers could take over their node or starve it.
#
#   kubectl kustomize overlays/prod | yq -o json >manifests.json
#   echo '{"path": "manifests.json"}' | hookrun run manifest.pre --hooks gates
#
# It reads JSON: one document or several, a list (`kubectl get -o json`), an array. YAML is
# refused, as without a library it cannot be read as the cluster reads it. Every object with
# `containers` is judged as a pod, whatever its kind, so that a custom resource hides nothing.
# What a cluster adds (admission webhooks, defaults of a LimitRange) is not known here.
# Findings point to the line at which the container or the pod begins.
#
# Tune:
#   HOOKRUN_MANIFEST_ALLOW   rules to leave out, separated by spaces: privileged host-path
#                            host-namespace capabilities latest limits root; or RULE:NAME for the
#                            object of that name
#
# hookrun: timeout=30s

import json
import os
import re
import sys

HOST_NAMESPACES = ["hostNetwork", "hostPID", "hostIPC"]
HARMLESS_CAPABILITIES = ["NET_BIND_SERVICE", "CHOWN", "SETUID", "SETGID", "FOWNER", "DAC_OVERRIDE", "KILL"]
CONTAINERS = ["containers", "initContainers", "ephemeralContainers"]
MOST_FINDINGS = 50  # A wall of them says no more, and an answer has a limit.


class Refusal(Exception):
    """The manifests cannot be judged."""


class Object(dict):
    """A JSON object that knows the line on which it begins."""

    line = 1


def documents(text, path):
    """The JSON documents in a text, one after the other."""
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

    def finished(pairs):
        one = Object(pairs)
        one.line = next(lines)
        if len(one) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise Refusal(f"{path}:{one.line}: `{twice}` stands twice in one object, and readers differ in which counts")
        return one

    decoder, at, found = json.JSONDecoder(object_pairs_hook=finished), 0, []
    while rest := re.compile(r"\s*(?=\S)").match(text, at):
        try:
            document, at = decoder.raw_decode(text, rest.end())
        except (ValueError, RecursionError) as error:
            said = f"{error.msg} in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else error
            raise Refusal(f"`{path}` is not JSON ({said}); turn YAML into JSON first: `yq -o json`") from None
        found.append(document)
    return found


def objects(document, path):
    """The Kubernetes objects of a document."""
    if isinstance(document, list):
        for one in document:
            yield from objects(one, path)
    elif not isinstance(document, Object) or not isinstance(document.get("kind"), str):
        line = getattr(document, "line", 1)
        raise Refusal(f"{path}:{line}: this is no Kubernetes object: it has no `kind`")
    else:
        rest = Object(document)
        rest.line = document.line
        if document["kind"].endswith("List"):
            for one in rest.pop("items", None) or []:
                yield from objects(one, path)
        yield rest


def pods(value):
    """Every object with containers, at any depth."""
    if isinstance(value, dict):
        if any(name in value for name in CONTAINERS):
            yield value
        for inner in value.values():
            yield from pods(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pods(inner)


def part(value, name):
    """A field that is an object; an empty one where it is not set."""
    inner = value.get(name)
    return inner if inner is not None else Object()


def judge_pod(pod):
    """What is wrong with a pod: rule, line, message."""
    for name in HOST_NAMESPACES:
        if pod.get(name):
            yield "host-namespace", pod.line, f"`{name}` shares the node's own"
    for volume in pod.get("volumes") or []:
        if "hostPath" in volume:
            folder = part(volume, "hostPath").get("path")
            yield "host-path", volume.line, f"the volume `{volume.get('name')}` is the node's own `{folder}`"
    for sort in CONTAINERS:
        for container in pod.get(sort) or []:
            yield from judge_container(container, part(pod, "securityContext"), sort)


def judge_container(container, of_pod, sort):
    line, name, own = container.line, container.get("name"), part(container, "securityContext")
    if own.get("privileged") or part(own, "windowsOptions").get("hostProcess"):
        yield "privileged", line, f"`{name}` is privileged: it has the node"
    for capability in part(own, "capabilities").get("add") or []:
        if str(capability).upper().replace("CAP_", "", 1) not in HARMLESS_CAPABILITIES:
            yield "capabilities", line, f"`{name}` adds the capability {capability}"

    image = container.get("image")
    if not isinstance(image, str) or not image:
        yield "latest", line, f"`{name}` names no image"
    elif "@sha256:" not in image:
        _, colon, tag = image.rpartition("/")[2].partition(":")
        if not colon or tag == "latest":
            yield "latest", line, f"`{name}` runs `{image}`, which is another image tomorrow; name a version"

    limits = part(part(container, "resources"), "limits")
    missing = [what for what in ("cpu", "memory") if not limits.get(what)]
    if missing and sort != "ephemeralContainers":  # They may have none.
        yield "limits", line, f"`{name}` has no limit for {' and '.join(missing)}"

    # The container's own word goes before its pod's.
    user = own.get("runAsUser", of_pod.get("runAsUser"))
    if user is not None and not isinstance(user, int):
        raise TypeError(user)
    if user == 0:
        yield "root", line, f"`{name}` runs as root: `runAsUser` is 0"
    elif user is None and own.get("runAsNonRoot", of_pod.get("runAsNonRoot")) is not True:
        yield "root", line, f"`{name}` may run as root; set `runAsNonRoot: true`"


def is_here(cwd):
    """Whether we are in the event's `cwd`: hookrun starts a hook elsewhere if there is no such folder."""
    if os.path.isabs(cwd):
        return os.path.isdir(cwd) and os.path.samefile(cwd, ".")
    return f"{os.getcwd()}/".endswith(os.path.join("/", os.path.normpath(cwd), "")) or os.path.normpath(cwd) == "."


def shown(path):
    """A path as seen from the project's root, where annotations are looked for."""
    root, whole = os.path.realpath(os.environ.get("HOOKRUN_PROJECT_DIR", ".")), os.path.realpath(path)
    return os.path.relpath(whole, root) if whole.startswith(os.path.join(root, "")) else path


def check(path):
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise Refusal(f"`{path}` is not UTF-8") from None
    except OSError as error:
        raise Refusal(f"`{path}` cannot be read: {error.strerror}") from None
    found = [one for document in documents(text, path) for one in objects(document, path)]
    if not found:
        raise Refusal(f"`{path}` has no object in it")
    allowed, findings = os.environ.get("HOOKRUN_MANIFEST_ALLOW", "").split(), []
    for one in found:
        try:
            name = part(one, "metadata").get("name")
            judged = [wrong for pod in pods(one) for wrong in judge_pod(pod)]
        except (AttributeError, TypeError, KeyError):
            kind = one["kind"]
            raise Refusal(f"{path}:{one.line}: this {kind} is not of the form that Kubernetes takes") from None
        called = f"{one['kind']}/{name}" if name else one["kind"]
        for rule, line, message in judged:
            if rule not in allowed and f"{rule}:{name}" not in allowed:
                findings.append({"path": shown(path), "line": line, "message": f"{called}: {message} [{rule}]"})
    return findings


def main():
    event = json.load(sys.stdin.buffer)
    path = event.get("path")
    try:
        if not isinstance(path, str) or not path:
            raise Refusal('the event has no `path`: {"path": "manifests.json"}')
        if event.get("cwd") is not None and not is_here(event["cwd"]):
            raise Refusal(f"there is no folder `{event['cwd']}`")
        findings = check(path)
    except (Refusal, OSError, TypeError) as refusal:
        sys.exit(f"the manifests were not judged: {refusal}")
    if findings:
        told = [f"{one['path']}:{one['line']}: {one['message']}" for one in findings[:MOST_FINDINGS]]
        told += [f"and {len(findings) - MOST_FINDINGS} more"] * (len(findings) > MOST_FINDINGS)
        reason = "the manifests are refused:\n" + "\n".join(told)
        print(json.dumps({"continue": False, "reason": reason, "findings": findings[:MOST_FINDINGS]}))


main()
