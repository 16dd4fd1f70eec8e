#!/usr/bin/env -S python3 -IS
# Blocks a Terraform plan that destroys stored data or a cluster, opens administration or database
# ports to the internet, grants full access, or makes resources public or unencrypted.
#
#   terraform plan -out=plan.bin && terraform show -json plan.bin >plan.json
#   echo '{"path": "plan.json"}' | hookrun run plan.pre --hooks gates && terraform apply plan.bin
#
# Only changes are checked. Unchanged resources are ignored, and a finding that an updated resource
# already had is a notice. A replaced resource is checked as a new one. The gate knows the AWS,
# Google and Azure resources in the tables below.
#
# A value that is known only after apply is a warning if it could be blocked. But unknown ports,
# protocols and directions of a resource that is open to the internet count as open, and unknown
# encryption counts as missing. A value that the provider chooses counts as missing.
# The address ranges that a resource opens a port to are checked together, and so are all rules of
# one AWS security group, including unchanged ones.
# Findings point to the resource in its .tf file if its module is in the repository, else to the
# plan.
#
# Settings:
#   HOOKRUN_PLAN_ALLOW     rules to skip, separated by spaces: destroy open-port public
#                          unencrypted every-right; or RULE:ADDRESS for one resource
#   HOOKRUN_PLAN_PROTECT   types that must not be destroyed, instead of the default ones; globs
#   HOOKRUN_PLAN_PORTS     ports that must not be open to the internet: PORT for TCP and UDP, or
#                          PORT/tcp, PORT/udp (default: SSH, RDP, and the databases below)
#
# hookrun: timeout=30s

import collections
import difflib
import fnmatch
import ipaddress
import itertools
import json
import os
import re
import sys

KEYS = ["path", "sources", "cwd"]
RULES = ["destroy", "open-port", "public", "unencrypted", "every-right"]

# SSH, RDP; SQL Server, Oracle, MySQL, PostgreSQL, Redshift, Redis, Cassandra, Elasticsearch,
# Memcached and MongoDB.
PORTS = "22/tcp 3389/tcp 1433/tcp 1521/tcp 3306/tcp 5432/tcp 5439/tcp 6379/tcp 9042/tcp 9200/tcp 11211 27017/tcp"

PROTECTED = """
    aws_db_instance aws_rds_cluster* aws_dynamodb_table aws_s3_bucket aws_efs_file_system aws_ebs_volume
    aws_redshift_cluster aws_elasticache_* aws_opensearch_domain aws_kms_key aws_route53_zone aws_backup_vault
    google_sql_database* google_storage_bucket google_bigquery_* google_spanner_* google_bigtable_*
    google_compute_disk google_kms_* google_dns_managed_zone google_filestore_instance
    azurerm_*sql* azurerm_cosmosdb_* azurerm_storage_account azurerm_storage_container
    azurerm_managed_disk azurerm_key_vault* azurerm_dns_zone
    aws_eks_cluster google_container_cluster azurerm_kubernetes_cluster
    aws_secretsmanager_secret google_secret_manager_secret
""".split()

# Of these, what holds no data: settings, rights, ways in.
HOLDS_NOTHING = """
    *_parameter_group *_subnet_group aws_elasticache_security_group aws_elasticache_user*
    aws_rds_cluster_role_association aws_rds_cluster_endpoint
    *_iam_* google_bigquery_dataset_access google_bigquery_job google_bigquery_reservation*
    google_bigtable_app_profile google_bigtable_gc_policy
    *_firewall_rule *_network_rule *_configuration *_administrator *_access_policy *_alert_policy
    *_auditing_policy *_role_assignment *_role_definition
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
DISKS = ["root_block_device", "ebs_block_device"]

# Values that make a thing public: type, attribute, values.
OPEN_ACLS = ["public-read", "public-read-write", "authenticated-read"]
OPEN_GOOGLE_ACLS = ["publicRead", "publicReadWrite", "authenticatedRead"]
PUBLIC = [
    ("aws_s3_bucket", "acl", OPEN_ACLS),
    ("aws_s3_bucket_acl", "acl", OPEN_ACLS),
    ("aws_s3_object", "acl", OPEN_ACLS),
    ("aws_s3_bucket_object", "acl", OPEN_ACLS),
    ("aws_s3_object_copy", "acl", OPEN_ACLS),
    ("aws_s3_bucket_public_access_block", "block_public_acls", [False]),
    ("aws_s3_bucket_public_access_block", "block_public_policy", [False]),
    ("aws_s3_bucket_public_access_block", "ignore_public_acls", [False]),
    ("aws_s3_bucket_public_access_block", "restrict_public_buckets", [False]),
    ("aws_db_instance", "publicly_accessible", [True]),
    ("aws_rds_cluster_instance", "publicly_accessible", [True]),
    ("aws_redshift_cluster", "publicly_accessible", [True]),
    ("google_storage_bucket_acl", "predefined_acl", OPEN_GOOGLE_ACLS),
    ("google_storage_object_acl", "predefined_acl", OPEN_GOOGLE_ACLS),
    ("google_storage_bucket_iam_member", "member", ["allUsers", "allAuthenticatedUsers"]),
    ("google_storage_bucket_iam_binding", "members", ["allUsers", "allAuthenticatedUsers"]),
    ("google_storage_bucket_access_control", "entity", ["allUsers", "allAuthenticatedUsers"]),
    ("google_storage_default_object_access_control", "entity", ["allUsers", "allAuthenticatedUsers"]),
    ("azurerm_storage_account", "allow_nested_items_to_be_public", [True]),
    ("azurerm_storage_container", "container_access_type", ["blob", "container"]),
    ("aws_lambda_function_url", "authorization_type", ["NONE"]),
    ("aws_lambda_permission", "principal", ["*"]),
]
# Where rights are given one by one: type, attribute. Of a block counts what its `uri` names.
GRANTS = [
    ("aws_s3_bucket", "grant"),
    ("aws_s3_bucket_acl", "access_control_policy"),
    ("aws_s3_object_copy", "grant"),
    ("google_storage_bucket_acl", "role_entity"),
    ("google_storage_object_acl", "role_entity"),
]
EVERYBODY = re.compile(r"(?:^|[/:])(?:allUsers|authenticatedUsers|allAuthenticatedUsers)$", re.IGNORECASE)
WALL = "aws_s3_bucket_public_access_block"
POLICIES = ["aws_s3_bucket_policy", "aws_s3_bucket"]
RULES_OF_GROUPS = ["aws_security_group_rule", "aws_vpc_security_group_ingress_rule"]
GOOGLE_POLICIES = ["google_storage_bucket_iam_policy"]

# Policies of AWS that say what somebody may do, and the attributes that attach others by name.
RIGHTS = ["aws_iam_policy", "aws_iam_role_policy", "aws_iam_user_policy", "aws_iam_group_policy"]
ATTACHED_BY = {
    "aws_iam_policy_attachment": "policy_arn",
    "aws_iam_role_policy_attachment": "policy_arn",
    "aws_iam_user_policy_attachment": "policy_arn",
    "aws_iam_group_policy_attachment": "policy_arn",
    "aws_iam_role": "managed_policy_arns",
}
ADMINISTRATOR = re.compile(r"arn:aws[\w-]*:iam::aws:policy/AdministratorAccess")

# Conditions of a policy that limit who or from where: their values are names, ARNs or addresses.
# `aws:SecureTransport` and the like limit how, and leave it open to everybody.
LIMITS_BY_NAME = """
    aws:sourceaccount aws:sourceorgid aws:sourceorgpaths aws:sourceowner aws:sourcevpc aws:sourcevpce
    aws:principalaccount aws:principalorgid aws:principalorgpaths aws:userid s3:dataaccesspointaccount
""".split()
LIMITS_BY_ARN = ["aws:sourcearn", "aws:principalarn", "aws:sourcevpcarn", "s3:dataaccesspointarn"]
LIMITS_BY_ADDRESS = ["aws:sourceip"]
# With `…IfExists` or `ForAllValues:` they hold also where the key is missing.
LIMITING = """
    stringequals stringequalsignorecase stringlike arnequals arnlike ipaddress
    foranyvalue:stringequals foranyvalue:stringequalsignorecase foranyvalue:stringlike
    foranyvalue:arnequals foranyvalue:arnlike foranyvalue:ipaddress
""".split()

# Blocks of resources, of which a configuration does not always tell that they are set.
BLOCKS = ["ingress", "allow", "security_rule", "grant", "access_control_policy", *DISKS]
ACTIONS = ["no-op", "create", "read", "update", "delete", "forget"]
BOTH = {"tcp", "udp"}
LEVELS = ["error", "warning", "notice"]  # In the order of the report.
MOST_FINDINGS = 50  # A wall of them says no more, and an answer has a limit.


class Blocked(Exception):
    """The plan cannot be judged."""


class Odd(Exception):
    """A part of a change is not of the form that Terraform writes."""


class Unknown:
    """A value that is known only after apply."""


UNKNOWN = Unknown()
Opening = collections.namedtuple("Opening", "sources transports first last")
# Of a port the message goes on after it, with `{}` for "is" or "are".
Finding = collections.namedtuple("Finding", "rule level message key port", defaults=[None])


def told(value):
    return json.dumps(value, default=lambda _: "known after apply")[:80]


def overlay(known, unknown):
    """The known part of a value, and the `after_unknown` flags of the rest."""
    if unknown is True:
        return UNKNOWN
    if isinstance(unknown, dict) and isinstance(known, (dict, type(None))):
        whole = dict(known or {})
        for name, value in unknown.items():
            if (value := overlay(whole.get(name), value)) is not None:
                whole[name] = value
        return whole or known
    if isinstance(unknown, list) and isinstance(known, (list, type(None))):
        whole = [overlay(*pair) for pair in itertools.zip_longest(known or [], unknown)]
        return whole or known
    return known


def listed(value):
    """A value, a list of them or nothing, as a list."""
    return [one for one in (value if isinstance(value, list) else [value]) if one is not None]


def blocks(values, name):
    """The blocks of a name; one that is known only later is UNKNOWN."""
    for one in listed(values.get(name)):
        if one is not UNKNOWN and not isinstance(one, dict):
            raise Odd(f"`{name}` must be a list of objects, but contains {told(one)}")
        yield one


def texts(values, *names):
    """The texts of some attributes, each with its attribute; empty ones count as left out."""
    for name in names:
        for one in listed(values.get(name)):
            if one is not UNKNOWN and not isinstance(one, str):
                raise Odd(f"`{name}` must be a string or a list of strings, but contains {told(one)}")
            if one != "":
                yield name, one


def word(values, name):
    """A word, in lower case."""
    value = values.get(name)
    return value if value is UNKNOWN or value is None else str(value).lower()


def is_world(text):
    """Whether an address range holds most of the internet: 0.0.0.0/0, or one cut in a few."""
    if text.strip().lower() in ("*", "internet", "any"):
        return True
    try:
        network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        return False  # The name of a group of addresses, a tag.
    return network.prefixlen < (8 if network.version == 4 else 16)


def is_wide(texts):
    """Whether address ranges together are as much as one that `is_world` takes for the internet."""
    networks = {4: [], 6: []}
    for text in texts:
        try:
            network = ipaddress.ip_network(text.strip(), strict=False)
        except ValueError:
            continue
        if not network.is_private:
            networks[network.version].append(network)
    sums = {version: sum(one.num_addresses for one in ipaddress.collapse_addresses(found)) for version, found in networks.items()}
    return sums[4] > 1 << 24 or sums[6] > 1 << 112


def span(name, text):
    """A port or range of ports ("20-30", 22, "*") as first and last."""
    if text is UNKNOWN or str(text).strip() in ("*", "-1"):
        return 0, 65535
    if not (read := re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", str(text))):
        raise Odd(f"`{name}` must be a port or a port range, not {told(text)}")
    return int(read[1]), int(read[2] or read[1])


def transports_of(protocol):
    """What a protocol carries. One with another name may be either."""
    if protocol in ("icmp", "1", "icmpv6", "58"):
        return set()  # Nobody administers by these.
    return {"tcp": {"tcp"}, "6": {"tcp"}, "udp": {"udp"}, "17": {"udp"}}.get(protocol, BOTH)


def openings(kind, now):
    """What a resource lets in."""
    if kind in ("aws_security_group", "aws_default_security_group"):
        for one in blocks(now, "ingress"):
            yield opening_of_aws(one, "protocol", "cidr_blocks", "ipv6_cidr_blocks")
    elif kind == "aws_security_group_rule":
        if word(now, "type") in ("ingress", None, UNKNOWN):
            yield opening_of_aws(now, "protocol", "cidr_blocks", "ipv6_cidr_blocks")
    elif kind == "aws_vpc_security_group_ingress_rule":
        yield opening_of_aws(now, "ip_protocol", "cidr_ipv4", "cidr_ipv6")
    elif kind == "google_compute_firewall":
        if word(now, "direction") in ("ingress", None, UNKNOWN) and now.get("disabled") is not True:
            yield from openings_of_google(now)
    elif kind == "azurerm_network_security_rule":
        yield from openings_of_azure(now)
    elif kind == "azurerm_network_security_group":
        for one in blocks(now, "security_rule"):
            yield from openings_of_azure(one)


def opening_of_aws(one, protocol, *addresses):
    if one is UNKNOWN:
        return Opening([("ingress", UNKNOWN)], BOTH, 0, 65535)
    ports, sources = [one.get("from_port"), one.get("to_port")], list(texts(one, *addresses))
    protocol = word(one, protocol)
    if protocol in ("-1", "all", "*", None, UNKNOWN) or None in ports:
        ports = ["*", "*"]
    return Opening(sources, transports_of(protocol), span("from_port", ports[0])[0], span("to_port", ports[1])[1])


def openings_of_google(now):
    sources = list(texts(now, "source_ranges"))
    if not sources:
        # Without any source everybody is let in.
        others = list(texts(now, "source_tags", "source_service_accounts"))
        sources = [one for one in others if one[1] is UNKNOWN] if others else [("source_ranges", "0.0.0.0/0")]
    for allow in blocks(now, "allow"):
        allow = {} if allow is UNKNOWN else allow
        protocol = word(allow, "protocol")
        ports = listed(allow.get("ports")) if protocol != "all" else []
        for one in ports or ["*"]:
            yield Opening(sources, transports_of(protocol), *span("ports", one))


def openings_of_azure(one):
    if one is UNKNOWN:
        yield Opening([("security_rule", UNKNOWN)], BOTH, 0, 65535)
    elif word(one, "direction") in ("inbound", UNKNOWN) and word(one, "access") in ("allow", UNKNOWN):
        sources = list(texts(one, "source_address_prefix", "source_address_prefixes"))
        ports = list(texts(one, "destination_port_range", "destination_port_ranges"))
        for name, port in ports or [("destination_port_range", "*")]:
            yield Opening(sources, transports_of(word(one, "protocol")), *span(name, port))


def unique(pairs):
    """An object in JSON, each key of which stands once."""
    one = dict(pairs)
    if len(one) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"`{twice}` appears twice in one object, and parsers disagree on which one counts")
    return one


def allows_everything(text):
    """Whether a statement of a policy, as JSON in a string, allows every action on everything."""
    if text is None or text == "":
        return False
    try:
        for one in listed(json.loads(text, object_pairs_hook=unique).get("Statement")):
            # All but some are nearly all.
            is_all = "NotAction" in one or any(action in ("*", "*:*") for action in listed(one.get("Action")))
            is_everywhere = "NotResource" in one or "*" in listed(one.get("Resource"))
            if one.get("Effect") == "Allow" and is_all and is_everywhere:
                return True
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise Odd(f"`policy` must be a JSON object with `Statement`, not {told(text)}") from None
    return False


def open_statements(text):
    """The statements of a policy, as JSON in a string, that allow something to everybody."""
    if text is None or text == "":
        return
    try:
        statements = listed(json.loads(text, object_pairs_hook=unique).get("Statement"))
        for one in statements:
            principal = one.get("Principal")
            groups = principal.values() if isinstance(principal, dict) else [principal]
            # All but some are everybody.
            is_for_all = "NotPrincipal" in one or any("*" in listed(group) for group in groups)
            if one.get("Effect") == "Allow" and is_for_all and not is_limited(one.get("Condition") or {}):
                yield {name: value for name, value in one.items() if name != "Sid"}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise Odd(f"`policy` must be a JSON object with `Statement`, not {told(text)}") from None


def members_of(text):
    """Whom a policy of Google's, as JSON in a string, allows something."""
    if text is UNKNOWN:
        yield UNKNOWN
        return
    try:
        policy = json.loads(text, object_pairs_hook=unique) if text else {}
        for binding in listed(policy.get("bindings")):
            yield from listed(binding.get("members"))
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise Odd(f"`policy_data` must be a JSON object with `bindings`, not {told(text)}") from None


def grantees(value):
    """Whom grants name: texts, or what stands under `uri` in blocks."""
    if isinstance(value, list):
        for one in value:
            yield from grantees(one)
    elif isinstance(value, dict):
        for name in ["uri", "grant", "grantee"]:
            yield from grantees(value.get(name))
    elif value is not None:
        yield value


def is_limited(condition):
    """Whether a condition limits who or from where. All parts of one must hold, so one is enough."""
    for operator, keys in condition.items():
        for key, values in keys.items():
            values = [str(value) for value in listed(values)]
            is_each = values and all(is_limit(key.lower(), value) for value in values)
            if operator.lower() in LIMITING and is_each and not (key.lower() in LIMITS_BY_ADDRESS and is_wide(values)):
                return True
    return False


def is_limit(key, value):
    """Whether not everybody is meant by a value: it names somebody before its first wildcard."""
    if key in LIMITS_BY_ADDRESS:
        return bool(re.fullmatch("[0-9A-Fa-f.:/]+", value)) and not is_world(value)
    if key in LIMITS_BY_ARN:
        # arn:aws:iam::ACCOUNT:NAME. Names of buckets are unique without an account.
        account, name = (value.split(":", 5) + ["*"] * 5)[4:6]
        return bool(re.fullmatch(r"\d+", account) or not account and re.match(r"[^*?$]", name))
    return key in LIMITS_BY_NAME and bool(re.match(r"[^*?$/:]+([/:]|$)", value))


def reached(kind, now, ports):
    """The guarded ports that a resource opens, each with whom it lets in, and by which attribute."""
    for opening in openings(kind, now):
        for name, source in opening.sources:
            for number, transports in ports:
                carried = transports & opening.transports
                if carried and opening.first <= number <= opening.last:
                    yield number if "tcp" in carried else f"{number}/udp", name, source


def ranges(kind, now, ports):
    """The ranges of addresses that a resource opens each port to, except ranges that cover the internet."""
    found = collections.defaultdict(list)
    for port, _, source in reached(kind, now, ports):
        if source is not UNKNOWN and not is_world(source):
            found[port].append(source)
    return found


def together(port, rules):
    """What the rules of one security group open a port to; each is the ranges that it was open to, and is."""
    before, after = ([one for sources in all for one in sources] for all in (zip(*rules) if rules else ((), ())))
    if is_wide(after) and not any(is_wide(now) for _, now in rules):
        message = f"of its security group {{}} open to {len(set(after))} address ranges that cover a large part of the internet"
        level, old = ("notice", "; this was already the case") if is_wide(before) else ("error", "")
        yield Finding("open-port", level, message + old, None, port)


def faults(kind, now, ports):
    """What is wrong with a resource as it is, or will be."""

    def wrong(rule, message, key=None, port=None):
        return Finding(rule, "error", message, key or message, port)

    def later(rule, name, what):
        message = f"`{name}` is known only after apply, so the gate cannot tell {what}"
        return Finding(rule, "warning", message, message)

    for port, name, source in reached(kind, now, ports):
        if source is UNKNOWN:
            yield later("open-port", name, "whether the internet can connect")
        elif is_world(source):
            yield wrong("open-port", f"{{}} open to {source}", f"port {port} to {source}", port)
    for port, sources in ranges(kind, now, ports).items():
        if is_wide(sources):
            message = f"{{}} open to {len(set(sources))} address ranges that cover a large part of the internet"
            yield wrong("open-port", message, f"port {port} in ranges", port)

    for public_kind, name, values in PUBLIC:
        for value in listed(now.get(name)) if kind == public_kind else ():
            if value is UNKNOWN:
                yield later("public", name, "whether it is public")
            elif value in values:
                yield wrong("public", f"`{name}` is {json.dumps(value)}, which allows public access")
    for name in [name for granting, name in GRANTS if granting == kind]:
        for grantee in grantees(now.get(name)):
            if grantee is UNKNOWN:
                yield later("public", name, "whether it is public")
            elif EVERYBODY.search(str(grantee)):
                yield wrong("public", f"`{name}` names {grantee}, which allows public access")
    if kind in GOOGLE_POLICIES:
        for member in members_of(now.get("policy_data")):
            if member is UNKNOWN:
                yield later("public", "policy_data", "whether it grants access to everybody")
            elif EVERYBODY.search(str(member)):
                yield wrong("public", f"its policy grants access to {member}")
    if kind in POLICIES and now.get("policy") is UNKNOWN:
        yield later("public", "policy", "whether it grants access to everybody")
    elif kind in POLICIES:
        for statement in open_statements(now.get("policy")):
            key = json.dumps(statement, sort_keys=True)
            yield wrong("public", "its policy grants access to everybody", key)

    policies = [("policy", now.get("policy"))] if kind in RIGHTS else []
    if kind == "aws_iam_role":
        policies = [("inline_policy", UNKNOWN if one is UNKNOWN else one.get("policy")) for one in blocks(now, "inline_policy")]
    for name, policy in policies:
        if policy is UNKNOWN:
            yield later("every-right", name, "whether it grants full access")
        elif allows_everything(policy):
            yield wrong("every-right", "its policy allows all actions on all resources (`*`), or nearly all")
    for arn in listed(now.get(ATTACHED_BY.get(kind))):
        if arn is not UNKNOWN and ADMINISTRATOR.fullmatch(str(arn)):
            yield wrong("every-right", "it attaches AdministratorAccess, which allows all actions on all resources")

    name = ENCRYPTED_BY.get(kind)
    if name and word(now, name) != "true":
        state = "may be" if now.get(name) is UNKNOWN else "is"
        yield wrong("unencrypted", f"its storage {state} unencrypted; set `{name} = true`", name)
    for name in DISKS if kind == "aws_instance" else ():
        for disk in blocks(now, name):
            if disk is UNKNOWN:
                yield later("unencrypted", name, "whether the disk is encrypted")
            elif disk.get("encrypted") is not True:
                key = f"{name} {told(disk.get('device_name'))}"
                yield wrong("unencrypted", f"a disk in `{name}` is unencrypted; set `encrypted = true`", key)


def is_protected(kind, protected):
    if protected:
        return any(fnmatch.fnmatchcase(kind, glob) for glob in protected)
    is_listed = any(fnmatch.fnmatchcase(kind, glob) for glob in PROTECTED)
    return is_listed and not any(fnmatch.fnmatchcase(kind, glob) for glob in HOLDS_NOTHING)


def field(value, name, sort, what):
    """A field of one type; None where it is not set."""
    inner = value.get(name)
    if inner is not None and not isinstance(inner, sort):
        raise Odd(f"`{name}` must be {what}, not {told(inner)}")
    return inner


def needed(value, name, sort, what):
    inner = field(value, name, sort, what)
    if inner is None:
        raise Odd(f"`{name}` is missing; it must be {what}")
    return inner


def actions_of(change):
    actions = needed(needed(change, "change", dict, "an object"), "actions", list, "a list of strings")
    for action in actions:
        if action not in ACTIONS:
            raise Odd(f"`actions` contains the unknown action {told(action)}")
    return actions


class Judge:
    """The checks on all changes of a plan."""

    def __init__(self, sources, left_out):
        self.sources = sources
        self.left_out = left_out
        self.protected = os.environ.get("HOOKRUN_PLAN_PROTECT", "").split()
        self.ports = ports_of(os.environ.get("HOOKRUN_PLAN_PORTS", "").split() or PORTS.split())
        self.gone = set()
        self.groups = collections.defaultdict(list)

    def note(self, change):
        """Takes in what the other changes of the plan are judged by."""
        if not isinstance(change, dict):
            raise Odd(f"it must be an object, not {told(change)}")
        if actions_of(change) == ["delete"] and change.get("type") == "aws_s3_bucket":
            before = field(change["change"], "before", dict, "an object") or {}
            self.gone.add(field(before, "bucket", str, "a string"))
        if self.is_joined(change):
            try:
                needed(change, "name", str, "a string")
                before = field(change["change"], "before", dict, "an object") or {}
                after = self.after(change)
                was, now = (ranges(change["type"], values, self.ports) for values in (before, after))
                for port in {*was, *now}:
                    self.groups[self.group_of(change, before, after), port].append((was[port], now[port]))
            except Odd:
                pass  # One that changes is read again where it is judged.

    def is_joined(self, change):
        """Whether it is a rule of a security group, which is judged with the others of that group."""
        is_rule = change.get("type") in RULES_OF_GROUPS
        return is_rule and not {"open-port", f"open-port:{change.get('address')}"} & {*self.left_out}

    def group_of(self, change, before, after):
        """The security group of a rule: its name, or what the configuration names where it is not made yet."""
        for values in (after, before):
            if isinstance(values.get("security_group_id"), str):
                return values["security_group_id"]
        is_set = (self.sources.expressions(change) or {}).get("security_group_id")
        names = field(is_set, "references", list, "a list") if isinstance(is_set, dict) else None
        return change.get("module_address"), min(map(str, names or []), key=len, default=None)

    def findings(self, change):
        """What is wrong with one resource's change."""
        kind, actions = needed(change, "type", str, "a string"), actions_of(change)
        needed(change, "name", str, "a string")
        if "delete" in actions and is_protected(kind, self.protected):
            how = "replaced, which deletes its data" if "create" in actions else "destroyed"
            yield Finding("destroy", "error", f"it would be {how}", None)
        before = field(change["change"], "before", dict, "an object") or {}
        if kind == WALL and actions == ["delete"] and self.is_missed(before):
            yield Finding("public", "error", "it would be destroyed, leaving its bucket without this protection", None)
        if "create" not in actions and "update" not in actions:
            return
        was = set()
        if "create" not in actions:
            try:
                was = {(one.rule, one.key) for one in faults(kind, before, self.ports)}
            except Odd:
                pass  # What it was cannot be read, and excuses nothing.
        after = self.after(change)
        for one in faults(kind, after, self.ports):
            if (one.rule, one.key) in was:
                one = one._replace(level="notice", message=f"{one.message}; this was already the case")
            yield one
        if self.is_joined(change):
            for port in ranges(kind, after, self.ports):
                # Told once, at the first of them that changes.
                yield from together(port, self.groups.pop((self.group_of(change, before, after), port), []))

    def is_missed(self, before):
        """Whether a wall held something back, of a bucket that stays."""
        held = [name for kind, name, _ in PUBLIC if kind == WALL and before.get(name) is not False]
        bucket = field(before, "bucket", str, "a string")
        return bool(held) and (bucket is None or bucket not in self.gone)

    def after(self, change):
        """What a resource will be, as far as it is known."""
        after = field(change["change"], "after", dict, "an object") or {}
        unknown = field(change["change"], "after_unknown", dict, "an object") or {}
        is_set = self.sources.expressions(change)
        if is_set is not None:
            unknown = {name: value for name, value in unknown.items() if name in is_set or name in BLOCKS}
        return overlay(after, unknown)


def ports_of(words):
    """The ports that nobody opens, each with what carries it."""
    ports = []
    for text in words:
        read = re.fullmatch(r"(\d{1,5})(?:/(tcp|udp))?", text)
        if not read or not 1 <= int(read[1]) <= 65535:
            raise Blocked(f"HOOKRUN_PLAN_PORTS: `{text}` is not a port; write a list such as `22 11211/udp`")
        ports.append((int(read[1]), {read[2]} if read[2] else BOTH))
    return ports


class Sources:
    """Where a resource stands: its .tf file and line, if its module is in the repository."""

    def __init__(self, plan, root):
        self.plan = plan
        self.root = root
        self.known = {}

    def module(self, change):
        """The folder of a resource's module, None if it is elsewhere, and its configuration."""
        configuration = field(self.plan, "configuration", dict, "an object") or {}
        folder, module = self.root, field(configuration, "root_module", dict, "an object") or {}
        address = field(change, "module_address", str, "a string") or ""
        # module.net["a"].module.subnet: the names, without what stands in brackets.
        for name in re.findall(r'(?:^|\.)module\.([^.\[]+)(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])?', address):
            calls = field(module, "module_calls", dict, "an object") or {}
            call = field(calls, name, dict, "an object") or {}
            source = field(call, "source", str, "a string") or ""
            is_near = folder is not None and source.startswith(("./", "../"))
            folder = os.path.normpath(os.path.join(folder, source)) if is_near else None
            module = field(call, "module", dict, "an object") or {}
        return folder, module

    def expressions(self, change):
        """The attributes that the configuration sets; None where that is not known."""
        _, module = self.module(change)
        for one in field(module, "resources", list, "a list") or []:
            if isinstance(one, dict) and (one.get("type"), one.get("name")) == (change["type"], change["name"]):
                return field(one, "expressions", dict, "an object")
        return None

    def find(self, change):
        folder, _ = self.module(change)
        if folder is None:
            return None
        if folder not in self.known:
            self.known[folder] = self.read(folder)
        return self.known[folder].get((change["type"], change["name"]))

    @staticmethod
    def read(folder):
        """The resources of a folder. The first one of a name counts; overrides come last."""
        try:
            names = [name for name in os.listdir(folder) if name.endswith(".tf")]
        except OSError:
            return {}
        places = {}
        for name in sorted(names, key=lambda name: (re.search(r"(^|_)override\.tf$", name) is not None, name)):
            path = os.path.join(folder, name)
            try:
                with open(path, encoding="utf-8-sig", errors="replace") as file:
                    for found, line in resources(file.read()):
                        places.setdefault(found, {"path": shown(path), "line": line})
            except OSError:
                continue
        return places


TOKEN = re.compile(
    r"""\#[^\n]* | //[^\n]* | /\*.*?(?:\*/|\Z)                  # comments
      | <<-?(?P<mark>[\w-]+)[ \t]*\n.*?^[ \t]*(?P=mark)[ \t]*$   # a text up to its mark
      | (?P<quote>") | (?P<name>[\w-]+) | (?P<brace>[](){}[]) | (?P<end>\n) | .""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def resources(text):
    """The resources of a .tf file: their type and name, and the line."""
    at, depth, head, line = 0, 0, [], 1
    while token := TOKEN.match(text, at):
        start, at = at, token.end()
        if token["quote"]:
            at = end_of_string(text, at)
        if token["quote"] or token["name"]:
            head.append(text[start:at].strip('"'))
        elif token["brace"]:
            if token["brace"] == "{" and depth == 0 and head[:1] == ["resource"] and len(head) == 3:
                yield tuple(head[1:]), line
            depth += 1 if token["brace"] in "({[" else -1
        if token["brace"] or token["end"]:
            head = []
        line += text.count("\n", start, at)


def end_of_string(text, at):
    """Where the string ends that begins before `at`. `${…}` in it may hold other strings."""
    while piece := re.compile(r'\\.|[$%]{2,}|[$%]\{|.', re.DOTALL).match(text, at):
        at = piece.end()
        if piece.group() == '"':
            break
        depth = 1 if piece.group() in ("${", "%{") else 0
        while depth and at < len(text):
            at += 1
            if text[at - 1] == '"':
                at = end_of_string(text, at)
            depth += {"{": 1, "}": -1}.get(text[at - 1], 0)
    return at


def read_plan(path):
    def no_number(text):
        raise ValueError(f"{text} is not a valid number")

    try:
        with open(path, encoding="utf-8-sig") as file:
            plan = json.load(file, object_pairs_hook=unique, parse_constant=no_number)
    except UnicodeDecodeError:
        raise Blocked(f"`{path}` is not UTF-8") from None
    except OSError as error:
        raise Blocked(f"`{path}` cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Blocked(f"`{path}` cannot be read as JSON ({error}); write it with `terraform show -json PLAN >{path}`") from None
    if not isinstance(plan, dict) or "format_version" not in plan:
        raise Blocked(f"`{path}` is not from `terraform show -json`: it has no `format_version`")
    if str(plan["format_version"]).split(".")[0] not in ("0", "1"):
        raise Blocked(f"`{path}` has the unsupported format version {plan['format_version']}")
    if "resource_changes" not in plan and "planned_values" not in plan:
        raise Blocked(f"`{path}` is a state, not a plan; run `terraform show -json` on the file from `terraform plan -out`")
    if plan.get("errored"):
        raise Blocked(f"`{path}` is from a plan that failed, so changes may be missing; fix the errors and plan again")
    return plan


def meant(word, words):
    """The cure of a slip."""
    near = difflib.get_close_matches(word.lower(), words, 1)
    return f"did you mean `{near[0]}`?" if near else f"expected one of: {', '.join(words)}"


def allowed():
    """The rules that are left out."""
    words = os.environ.get("HOOKRUN_PLAN_ALLOW", "").split()
    for word in words:
        rule, colon, name = word.partition(":")
        if rule not in RULES or (colon and not name):
            raise Blocked(f"HOOKRUN_PLAN_ALLOW: `{word}` is neither a rule nor RULE:ADDRESS; {meant(rule, RULES)}")
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


def said(findings):
    """Rule, level and message of findings. Findings that differ only in their port are one."""
    ports = {}
    for one in findings:
        ports.setdefault((one.rule, one.level, one.message), []).append(one.port)
    for (rule, level, message), found in ports.items():
        named = list(dict.fromkeys(str(port) for port in found if port is not None))
        if named:
            start, verb = ("port", "is") if len(named) == 1 else ("ports", "are")
            more = f" and {len(named) - 3} more" if len(named) > 3 else ""
            message = f"{start} {', '.join(named[:3])}{more} {message.replace('{}', verb, 1)}"
        yield rule, level, message


def check(event):
    check_keys(event)
    path, sources, left_out = event["path"], event.get("sources"), allowed()
    if "cwd" in event and not is_here(event["cwd"]):
        raise Blocked(f"`cwd` is `{event['cwd']}`, which is not a folder")
    if sources is not None and not os.path.isdir(sources):
        raise Blocked(f"`sources` must be the folder of the root module, but there is no folder `{sources}`")
    plan, findings = read_plan(path), []
    judge, where = Judge(Sources(plan, sources or os.path.dirname(path) or "."), left_out), f"`{path}`"
    try:
        changes = field(plan, "resource_changes", list, "a list") or []
        for number, change in enumerate(changes):
            where = f"`resource_changes.{number}` of `{path}`"
            judge.note(change)
        for number, change in enumerate(changes):
            where = f"`resource_changes.{number}` of `{path}`"
            if change.get("mode") == "data":
                continue
            address, place = needed(change, "address", str, "a string"), None
            for rule, level, message in said(judge.findings(change)):
                if rule in left_out or f"{rule}:{address}" in left_out:
                    continue
                place = place or judge.sources.find(change) or {"path": shown(path)}
                findings.append({**place, "level": level, "message": f"{address}: {message} [{rule}]"})
    except Odd as odd:
        raise Blocked(f"{where} is invalid: {odd}") from None
    return findings


def main():
    try:
        findings = check(json.load(sys.stdin.buffer))
    except RecursionError:
        sys.exit("the plan was not checked: it is nested too deeply")
    except (Blocked, OSError) as problem:
        sys.exit(f"the plan was not checked: {problem}")
    if not findings:
        return
    findings.sort(key=lambda finding: LEVELS.index(finding["level"]))
    answer = {"findings": findings[:MOST_FINDINGS]}
    errors = [finding["message"] for finding in findings if finding["level"] == "error"]
    if errors:
        lines = errors[:MOST_FINDINGS] + [f"and {len(errors) - MOST_FINDINGS} more"] * (len(errors) > MOST_FINDINGS)
        answer.update({"continue": False, "reason": "the plan is blocked:\n" + "\n".join(lines)})
    print(json.dumps(answer))


main()
