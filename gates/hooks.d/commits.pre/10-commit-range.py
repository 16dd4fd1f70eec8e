#!/usr/bin/env -S python3 -IS
# Blocks commits that should not be merged as they are.
#
#   echo '{"base": "origin/main"}' | hookrun run commits.pre --hooks gates
#
# It checks every commit of `head` (default: HEAD) that is not in `base`, in the repository of the
# event's `cwd`. Each commit is checked separately, so it also finds text that a later commit removes.
#
#   subject    the first line is empty, longer than 72 characters, ends with a full stop, does not
#              match HOOKRUN_COMMITS_SUBJECT, or is not followed by an empty line. Subjects of
#              Dependabot and Renovate, which name packages and versions, may have 200 characters and
#              need not match; nor need those of `git revert`.
#   sign-off   no Signed-off-by with the author's address, or with Dependabot's
#   fixup      fixup!, squash!, amend! or WIP: the commit is unfinished
#   secret     an added line, also in a binary file, or the message looks like a key or a password
#   large      a file is larger than HOOKRUN_COMMITS_LARGE; reported for the first such commit
#
# For a merge it checks only changes that are in none of its parents, and neither the subject nor a
# sign-off. A shallow clone is blocked, because commits could be missing. It finds secrets in ASCII,
# UTF-8, UTF-16 and UTF-32, but not in compressed or encoded data or across lines. The keys in the
# documentation of AWS (`AKIAIOSFODNN7EXAMPLE`) are not secrets.
#
# Settings:
#   HOOKRUN_COMMITS_ALLOW     rules to skip, separated by spaces; or RULE:COMMIT, with a full commit
#                             id, for one commit
#   HOOKRUN_COMMITS_SUBJECT   a regular expression for subjects: '^(feat|fix|docs)(\(.+\))?: '
#   HOOKRUN_COMMITS_LARGE     in bytes (default: 1048576)
#
# hookrun: timeout=60s

import difflib
import json
import os
import re
import subprocess
import sys

KEYS = ["base", "head", "cwd"]
RULES = ["subject", "sign-off", "fixup", "secret", "large"]
NUMBER = "[0-9a-f]{40}|[0-9a-f]{64}"
# `build(deps): Bump serde from 1.0.1 to 1.0.2 in /api`, `Bump the dev group with 3 updates`.
UPDATE = re.compile(
    r"(?:[\w-]+(?:\([^()]*\))?!?: )?(?:(?:bump|update) .+ to \S+(?: in \S+)?|bump the .+ group\b.* with \d+ updates?)",
    re.IGNORECASE,
)
# Subjects of git's own, which HOOKRUN_COMMITS_SUBJECT does not apply to either.
OTHERS = re.compile('(?:Revert|Reapply) "')
# Authors that sign off with another address of theirs.
BOTS = {"49699333+dependabot[bot]@users.noreply.github.com": "support@github.com"}
DOCUMENTED_KEYS = [
    b"AKIAIOSFODNN7EXAMPLE",
    b"AKIAI44QH8DHBEXAMPLE",
    b"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    b"je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
]
# generated: secrets
# Copied from hookrun's own table; change it there. Each row: the kind, its description, the
# programs that use it, whether it needs a digit, a word that it contains, and its pattern. The
# groups `keep` and `end` are not replaced.
NAMES = ("password", "passwd", "passphrase", "pass", "pwd", "secret", "token", "keyid", "key_id", "key-id", "apikey", "api_key", "api-key", "appkey", "app_key", "app-key", "secretkey", "secret_key", "secret-key", "privatekey", "private_key", "private-key", "accesskey", "access_key", "access-key", "accountkey", "account_key", "account-key", "signingkey", "signing_key", "signing-key", "encryptionkey", "encryption_key", "encryption-key", "masterkey", "master_key", "master-key", "deploykey", "deploy_key", "deploy-key", "webhookkey", "webhook_key", "webhook-key",)
SECRETS = [
    ("private-key", "a private key block, PEM or PGP", "everywhere", False, ("-----begin",),
     r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"),
    ("aws-key", "an AWS access key ID", "everywhere", False, ("akia", "asia", "abia", "acca",),
     r"(?P<keep>\b|[_a-z]|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?:\b|(?P<end>[_a-z]))"),
    ("aws-key", "an AWS access key ID next to capital letters or digits", "everywhere", True, ("akia", "asia",),
     r"(?P<keep>[0-9A-Z])A[KS]IA[2-7A-Z]{16}|A[KS]IA[2-7A-Z]{16}(?P<end>[0-9A-Z])"),
    ("aws-secret", "an AWS secret access key", "everywhere", True, ("accesskey", "access_key",),
     r'''(?i)(?P<keep>secret_?access_?key(?:\\*["'])?\s*(?:=>|:=|[:=])\s*(?:\\*["'])?)[A-Z0-9/+]{20,}'''),
    ("aws-secret", "a value in `aws configure set`", "messages with a digit", False, ("configure",),
     r'''(?P<keep>(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])aws\b[^\n|;&]{0,200}?\sconfigure\s+set\s+[\w.-]*(?:key|token|secret|key_id)\s+)["']?[^\s"'\\$<\[{(-][^\s"'\\]*'''),
    ("github-token", "a GitHub token", "everywhere", False, ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",),
     r"(?P<keep>\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])gh[pousr]_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[\w]{20,}"),
    ("gitlab-token", "a GitLab token", "everywhere", False, ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glimt-", "glagent-", "glsoat-", "glft-", "gloas-", "glffct-",),
     r"(?P<keep>\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])gl(?:dt|rt|agent|ft)-[\w-]{20,}|gl(?:pat|ptt|cbt|imt|soat|oas|ffct)-[\w-]{20,}"),
    ("slack-token", "a Slack token or webhook", "everywhere", True, ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "hooks.slack.com",),
     r"xox[abeoprs](?:\.xox[bp])?-[\w-]{10,}|(?P<keep>\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])xapp-[\w-]{10,}|xapp-[0-9]-A[0-9A-Z]{8,}-[\w-]{10,}|hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{20,}"),
    ("google-key", "a Google API key or OAuth secret", "everywhere", False, ("aiza", "gocspx-", "ya29.",),
     r"(?P<keep>\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])(?:AIza[\w-]{35}|ya29\.[\w-]{20,})|AIzaSy[\w-]{33}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{64,}"),
    ("npm-token", "an npm token", "everywhere", False, ("npm_",),
     r"npm_[A-Za-z0-9]{36}"),
    ("huggingface-token", "a Hugging Face token", "everywhere", True, ("hf_",),
     r"(?P<keep>\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])hf_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{34}(?:\b|(?P<end>_))"),
    ("sendgrid-key", "a SendGrid API key", "everywhere", True, ("sg.",),
     r"(?P<keep>\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])SG\.[\w-]{16,}\.[\w-]{16,}|SG\.[\w-]{22}\.[\w-]{43}"),
    ("stripe-key", "a Stripe secret key", "everywhere", False, ("sk_live_", "rk_live_", "whsec_",),
     r"(?P<keep>\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])[rs]k_live_[A-Za-z0-9]{16,}|[rs]k_live_[A-Za-z0-9]{24,}|whsec_[A-Za-z0-9+/]{24,}"),
    ("stripe-key", "a Stripe test key", "messages", False, ("sk_test_", "rk_test_",),
     r"(?P<keep>\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])[rs]k_test_[A-Za-z0-9]{16,}|[rs]k_test_[A-Za-z0-9]{24,}"),
    ("api-key", "an API key that begins with `sk-`, such as those of OpenAI and Anthropic", "everywhere", True, ("sk-",),
     r"(?P<keep>\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])sk-(?:[\w-]{0,80}[_-])?[A-Za-z0-9]{16,}[\w-]*|sk-ant-[a-z]{2,8}[0-9]{2}-[\w-]{20,}|sk-[\w-]{10,160}T3BlbkFJ[\w-]{10,}|sk-or-v1-[0-9a-f]{40,}"),
    ("service-token", "a token with a known prefix, such as those of Vault, PyPI, Docker, Shopify and Grafana", "everywhere", True, ("hvs.", "hvb.", "hvr.", "pypi-ag", "gsk_", "xai-", "pplx-", "r8_", "nvapi-", "dop_v1_", "doo_v1_", "dor_v1_", "shpat_", "shpss_", "shpca_", "shppa_", "lin_api_", "figd_", "glsa_", "glc_", "dckr_pat_", "dckr_oat_", "rubygems_", "pmak-", "sntrys_", "sntryu_", "xkeysib-", "tskey-", "atatt3", "pul-", "dp.pt.", "dp.st.", "sq0atp-", "sq0csp-", "age-secret-key-1", "ntn_", "phc_", "phx_", "cfut_", "ccipat_",),
     r"(?P<keep>\b|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])(?:hv[sbr]\.|gsk_|xai-|pplx-|r8_|nvapi-|do[opr]_v1_|lin_api_|figd_|gl(?:sa|c)_|rubygems_|tskey-|pul-|dp\.[ps]t\.|ntn_|ph[cx]_|cfut_)[\w.=-]{20,}|(?:pypi-Ag|shp(?:at|ss|ca|pa)_|dckr_[op]at_|PMAK-|sntry[su]_|xkeysib-|tskey-(?:auth|api|client|scim|webhook)-|ATATT3|sq0(?:at|cs)p-|AGE-SECRET-KEY-1|CCIPAT_)[\w.=-]{20,}|(?:hv[sbr]\.|glsa_)[\w-]{24,}|(?:figd_|nvapi-|glc_)[\w-]{40,}|(?:gsk_|pplx-|do[opr]_v1_|lin_api_|rubygems_|pul-|dp\.[ps]t\.|ntn_|ph[cx]_|cfut_)[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{70,}|r8_[A-Za-z0-9]{37}(?:\b|(?P<end>_))"),
    ("azure-key", "a key in an Azure connection string", "everywhere", True, ("accountkey", "accesskey",),
     r"(?i)(?P<keep>(?:Account|SharedAccess)Key=)[A-Z0-9+/]{20,}={0,2}"),
    ("signature", "the signature of a pre-signed URL", "messages", False, ("sig", "signature",),
     r"(?i)(?P<keep>[?&](?:sig|X-Amz-Signature|X-Goog-Signature)=)[\w%+/=-]{32,}"),
    ("jwt", "a JSON Web Token", "messages", False, ("eyj",),
     r"(?P<keep>^|[^\w-]|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|eyJ(?:[\w-]{8,200}\.eyJ|(?:hbGci|0eXAi|raWQi|lbmMi|jdHki)[\w-]{0,200}\.)[\w-]{8,}\.[\w-]{8,}"),
    ("authorization", "the credentials of an `Authorization` header", "messages", False, ("authorization",),
     r'''(?i)(?P<keep>authorization\\?["']?\s*[:=]\s*\\?["']?(?:basic|bearer|token|digest)\s+)[^\s"'\\\[]{8,}'''),
    ("authorization", "a bearer token", "messages", True, ("bearer",),
     r"(?i)(?P<keep>(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])bearer\s+)[A-Za-z0-9._~+/=-]{16,}"),
    ("cookie", "a `Cookie` header", "messages", False, ("cookie",),
     r'''(?i)(?P<keep>cookie\\?["']?\s*:\s*\\?["']?)[\w.!#%&*+^|~-]+=[^\r\n"'\\\[][^\r\n"'\\]*'''),
    ("address-password", "a password in a URL", "everywhere", False, ("://", ":\\/\\/",),
     r'''(?P<keep>[\w]://[^\s/:@"'\\\[]+:)[^\s/@"'\\\[<$*{][^\s/@"'\\]{2,}(?P<end>@)'''),
    ("address-password", "a short password in a URL, or one without a user name", "messages", False, ("://", ":\\/\\/",),
     r'''(?P<keep>[\w]://[^\s/:@"'\\\[]*:)[^\s/@"'\\\[<$*{][^\s/@"'\\]*(?P<end>@)'''),
    ("address-password", "a token in a URL", "messages", False, ("://", ":\\/\\/",),
     r'''(?P<keep>[\w]://)[^\s/:@"'\\\[<$*{][^\s/:@"'\\\[]{19,}(?P<end>@)'''),
    ("secret", "a value assigned to an upper-case name: `*_TOKEN=…`, `SIGNING_KEY=…`, `PASSWORD=…`", "messages", False, NAMES,
     r'''(?P<keep>(?:(?:API|APP|ACCESS|PRIVATE|SECRET|ACCOUNT|SIGNING|ENCRYPTION|MASTER|DEPLOY|WEBHOOK)_?KEY|ACCESS_?KEY_ID|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE)=|(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])PASS=)(?:"(?:[^"\n$<\[]|\$(?:[\w]+[^\w\s"'$/;&|)][A-Za-z0-9]|(?:\{[^}\n]*\}|\([^"\n;|&]{0,200}\))[A-Za-z0-9]))[^"\n]*"|'[^'\n$<\[][^'\n]*'|(?:[^\s"'\\$<\[*{(&;]|\$(?:[\w]+[^\w\s"'$/;&|)][A-Za-z0-9]|(?:\{[^}\n]*\}|\([^"\n;|&]{0,200}\))[A-Za-z0-9]))[^\s"'\\&;]*)'''),
    ("secret", "the same in lower or mixed case: `password=…`, `api_key=…`, `dbPassword=…`", "messages with a digit", False, NAMES,
     r'''(?i)(?P<keep>(?:(?:password|passwd|passphrase|secret|(?:api|app|secret|private|access|account|signing|encryption|master|deploy|webhook)[_-]?key|access[_-]?key[_-]?id|(?:access|auth|refresh|id|api|private|bearer|session|security|csrf|bot|oauth)[_-]?token)|token)=)(?:"(?:[^"\n$<\[]|\$(?:[\w]+[^\w\s"'$/;&|)][A-Za-z0-9]|(?:\{[^}\n]*\}|\([^"\n;|&]{0,200}\))[A-Za-z0-9]))[^"\n]*"|'[^'\n$<\[][^'\n]*'|(?:[^\s"'\\$<\[*{(&;,)]|\$(?:[\w]+[^\w\s"'$/;&|)][A-Za-z0-9]|(?:\{[^}\n]*\}|\([^"\n;|&]{0,200}\))[A-Za-z0-9]))[^\s"'\\&;,()]*(?P<end>[\s"'\\&;,)]|\Z))'''),
    ("secret", "the same in a connection string: `Pwd=…`", "messages with a digit", False, ("pwd",),
     r'''(?i)(?P<keep>(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])pwd=)["']?[^\s"'\\$<\[{(&;,/~.][^\s"'\\&;,]*'''),
    ("secret", "the same with spaces, as in INI files: `secret_access_key = …`, if the value contains a digit", "messages", True, NAMES,
     r'''(?i)(?P<keep>(?:password|passwd|passphrase|secret|(?:api|app|secret|private|access|account|signing|encryption|master|deploy|webhook)[_-]?key|access[_-]?key[_-]?id|(?:access|auth|refresh|id|api|private|bearer|session|security|csrf|bot|oauth)[_-]?token)(?:[ \t]+=[ \t]*|=[ \t]+))[^\s"'\\\[$<{(&|=~][^\s"'\\]{7,}'''),
    ("secret", "the same in quotes, with at least 16 characters: `\"password\": \"…\"`", "messages", False, NAMES,
     r'''(?i)(?P<keep>(?:(?:password|passwd|passphrase|secret|(?:api|app|secret|private|access|account|signing|encryption|master|deploy|webhook)[_-]?key|access[_-]?key[_-]?id|(?:access|auth|refresh|id|api|private|bearer|session|security|csrf|bot|oauth)[_-]?token)(?:\\*["'])?\s*[:=]|(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])pwd\\*["']\s*:)\s*\\*["'])[^\s"'\\\[$<{][^\s"'\\]{15,}'''),
    ("secret", "the same in quotes, but shorter", "messages with a digit", False, NAMES,
     r'''(?i)(?P<keep>(?:(?:password|passwd|passphrase|secret|(?:api|app|secret|private|access|account|signing|encryption|master|deploy|webhook)[_-]?key|access[_-]?key[_-]?id|(?:access|auth|refresh|id|api|private|bearer|session|security|csrf|bot|oauth)[_-]?token)(?:\\*["'])?\s*[:=]|(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])pwd\\*["']\s*:)\s*\\*["'])[^\s"'\\\[$<{][^\s"'\\]{5,}'''),
    ("secret", "the same in YAML and headers: `clientSecret: …`, `Private-Token: …`, if the value contains a digit", "messages", True, NAMES,
     r'''(?i)(?P<keep>(?:(?:password|passwd|passphrase|secret|(?:api|app|secret|private|access|account|signing|encryption|master|deploy|webhook)[_-]?key|access[_-]?key[_-]?id|(?:access|auth|refresh|id|api|private|bearer|session|security|csrf|bot|oauth)[_-]?token):[ \t]+|-token:[ \t]*))[^\s"'\\\[$<{(][^\s"'\\]{7,}'''),
    ("secret", "the value of an option: `--password …`, `--token=…`", "messages with a digit", False, ("-password", "-passwd", "-passphrase", "-token", "-secret", "-key", "-apikey", "-accesskey", "-secretkey", "-privatekey", "-accountkey", "-signingkey", "-encryptionkey", "-masterkey",),
     r'''(?i)(?P<keep>(?:^|[\s"']|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])--?(?:[\w-]*-)?(?:password|passwd|passphrase|token|secret|(?:api|access|secret|private|account|signing|encryption|master)-?key)(?:[ \t]+|=))["']?[^\s"'\\$<\[{(-][^\s"'\\]*'''),
    ("secret", "the password in `curl -u name:password`", "messages with a digit", False, ("curl",),
     r'''(?P<keep>(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])curl\b[^\n|;&]{0,200}?\s(?:-[A-Za-z]*u|--user|--proxy-user)[ \t=]*["']?[^\s:"'\\]+:)[^\s"'\\$\[][^\s"'\\]*'''),
    ("secret", "the password in `mysql -pX` and `7z -pX`", "messages with a digit", False, ("mysql", "mariadb", "7z", "7za", "7zr", "7zz",),
     r'''(?P<keep>(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])(?:(?:mysql|mariadb)[\w-]*|7z[arz]?)[ \t](?:[^\n|;&]{0,200}?\s)?-p)["']?[^\s"'\\$<\[{(-][^\s"'\\]*'''),
    ("secret", "the password in `sshpass -p X`, `docker login -p X`, `mongosh -p X` and the like", "messages with a digit", False, ("sshpass", "mongo", "login",),
     r'''(?P<keep>(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])(?:sshpass|mongo[\w]*|(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc)\b[^\n|;&]{0,40}?\slogin)\s(?:[^\n|;&]{0,200}?\s)?-p[ \t=]*)["']?[^\s"'\\$<\[{(-][^\s"'\\]*'''),
    ("secret", "the password in `redis-cli -a X`, `sqlcmd -P X`, `zip -P X` and `ldapsearch -w X`", "messages with a digit", False, ("redis-cli", "valkey-cli", "sqlcmd", "bcp", "zip", "ldap",),
     r'''(?P<keep>(?:\b|_|\\(?:[befnrtv]|[0-7]{1,3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,15}[A-Za-z]|(?:\x1b|\\e|1[Bb]|33)\[[A-Za-z])(?:(?:redis|valkey)-cli\s(?:[^\n|;&]{0,200}?\s)?-a|(?:sqlcmd|bcp|zip|unzip)\s(?:[^\n|;&]{0,200}?\s)?-P|ldap[\w]+\s(?:[^\n|;&]{0,200}?\s)?-w)[ \t]*)["']?[^\s"'\\$<\[{(-][^\s"'\\]*'''),
    ("secret", "an openssl passphrase: `-passin pass:…`", "messages", False, ("pass:",),
     r'''(?P<keep>-pass(?:in|out)?[ \t=]+pass:)["']?[^\s"'\\$<\[{(-][^\s"'\\]*'''),
]
SECRET_KEYS = "password passwd passphrase apikey secretkey clientsecret accesstoken authtoken refreshtoken idtoken apitoken privatetoken sessiontoken privatekey secretaccesskey signingkey encryptionkey accountkey sharedaccesskey authorization cookie".split()
# /generated
# In source code a password that stands behind a name may be an expression, and is not looked for.
FORMS = [
    (about, has_digit, [word.encode() for word in words], re.compile(pattern.encode()))
    for _, about, scope, has_digit, words, pattern in SECRETS
    if scope == "everywhere"
]
MOST_FINDINGS = 50  # A wall of them says no more, and an answer has a limit.

# Read commits as stored, ignoring grafts and replacements.
GIT = ["git", "--no-replace-objects"]
ENVIRONMENT = {**os.environ, "GIT_GRAFT_FILE": os.devnull}


class Blocked(Exception):
    """The commits cannot be judged."""


def git(*arguments, given=b""):
    """What git says."""
    try:
        ran = subprocess.run([*GIT, *arguments], input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    except OSError as error:
        raise Blocked(f"git cannot be started: {error.strerror}") from None
    if ran.returncode != 0:
        said = ran.stderr.decode("utf-8", "replace").strip() or f"exit status {ran.returncode}"
        raise Blocked(f"git {arguments[0]}: {said}")
    return ran.stdout


class Objects:
    """What git has stored, to be read one by one."""

    def __init__(self):
        self.child = subprocess.Popen([*GIT, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)

    def read(self, number):
        self.child.stdin.write(number.encode() + b"\n")
        self.child.stdin.flush()
        head = self.child.stdout.readline().split()
        if len(head) != 3:
            raise Blocked(f"object {number} is missing from this clone; fetch it")
        return self.child.stdout.read(int(head[2]) + 1)[:-1]


def commit_of(revision):
    try:
        found = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    except Blocked:
        raise Blocked(f"`{revision}` is not a known commit in this clone; fetch it, or correct the name") from None
    # `^main` is printed as well, and means all others.
    if not re.fullmatch(NUMBER, found):
        raise Blocked(f"`{revision}` does not name a single commit")
    return found


def judge_message(parents, author, message, base):
    """What is wrong with what a commit says: rule, message."""
    subject, _, rest = message.partition("\n")
    if re.match(r"(fixup|squash|amend)! |wip\b", subject, re.IGNORECASE):
        yield "fixup", f"it is unfinished; squash it with `git rebase -i --autosquash {base}`"
    if len(parents) > 1:
        return
    wanted = os.environ.get("HOOKRUN_COMMITS_SUBJECT")
    if not subject.strip():
        yield "subject", "it has no subject"
    elif len(subject) > (most := 200 if UPDATE.fullmatch(subject) else 72):
        yield "subject", f"its subject has {len(subject)} characters; the limit is {most}"
    elif subject.endswith("."):
        yield "subject", "its subject ends with a full stop"
    elif wanted and not re.search(wanted, subject) and not OTHERS.match(subject) and not UPDATE.fullmatch(subject):
        yield "subject", f"its subject does not match HOOKRUN_COMMITS_SUBJECT: {wanted}"
    if rest and not rest.startswith("\n"):
        yield "subject", "its subject is not followed by an empty line"
    signed = re.findall(r"^Signed-off-by: .*<([^>\n]*)>\s*$", message, re.MULTILINE | re.IGNORECASE)
    if not {author.lower(), BOTS.get(author.lower())} & {*map(str.lower, signed)}:
        yield "sign-off", f"no Signed-off-by line for {author}; add it with `git rebase --signoff {base}`"


def message_of(text):
    """What stands in a commit: its parents, the author's address, what it says, and that as bytes."""
    head, _, message = text.partition(b"\n\n")
    parents = re.findall(rb"^parent .*", head, re.MULTILINE)
    author = re.search(rb"^author .*<(.*)>", head, re.MULTILINE)
    encoding = re.search(rb"^encoding (.*)", head, re.MULTILINE)
    try:
        said = message.decode(encoding[1].decode() if encoding else "utf-8")
    except (LookupError, ValueError):
        said = message.decode("utf-8", "replace")
    return parents, author[1].decode("utf-8", "replace") if author else "", said.rstrip("\n"), message


def changes(commits):
    """Each file that a commit changes; for a merge, files that differ from every parent: commit, path,
    the file before in each parent that has it, and now."""
    fields = iter(git("diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "-z", given=commits).split(b"\0"))
    commit = None
    for field in fields:
        if not field.startswith(b":"):
            commit = field.decode()
            continue
        words = field.lstrip(b":").decode().split(" ")
        parents = len(field) - len(field.lstrip(b":"))
        modes, blobs = words[: parents + 1], words[parents + 1 : 2 * parents + 2]
        path = next(fields).decode("utf-8", "replace")
        # Other entries are deleted, or commits of a submodule.
        files = [blob if mode not in ("000000", "160000") else None for mode, blob in zip(modes, blobs)]
        if files[-1]:
            yield commit, path, [file for file in files[:-1] if file], files[-1]


def is_secret(found, has_digit):
    """Whether the match has a digit, if the rule needs one to distinguish it from a word."""
    start, end = found.start(), found.end()
    if "keep" in found.re.groupindex:
        start = max(start, found.end("keep"))
    if "end" in found.re.groupindex and found["end"] is not None:
        end = found.start("end")
    if found.string[start:end] in DOCUMENTED_KEYS:
        return False
    return not has_digit or re.search(b"[0-9]", found.string[start:end]) is not None


def secrets_in(text):
    """What in a text looks like a secret. Of UTF-16 and UTF-32 the NULs are left out."""
    for about, has_digit, words, pattern in FORMS:
        for one in [text, text.replace(b"\0", b"")] if b"\0" in text else [text]:
            small = one.lower()
            found = pattern.finditer(one) if any(word in small for word in words) else []
            if any(is_secret(match, has_digit) for match in found):
                yield about
                break


def added_secrets(objects, before, now):
    """The secrets in lines that a file has now, and had before in none of these: line and what."""
    lines = objects.read(now).split(b"\n")
    had = {line for file in before for line in objects.read(file).split(b"\n")}
    for number, line in enumerate(lines, 1):
        if line not in had:
            yield from ((number, what) for what in secrets_in(line))


def large_files(base, head, limit):
    """What the commits bring that is over the limit, files and others, and its size."""
    listed = git("rev-list", "--objects", head, f"^{base}")
    shown = git("cat-file", "--batch-check=%(objectname) %(objectsize) %(rest)", given=listed)
    rows = (row.decode("utf-8", "replace").split(" ")[:2] for row in shown.splitlines())
    return {name: int(size) for name, size in rows if int(size) > limit}


def meant(word, words):
    """The cure of a slip."""
    near = difflib.get_close_matches(word.lower(), words, 1)
    return f"did you mean `{near[0]}`?" if near else f"expected one of: {', '.join(words)}"


def allowed():
    """What HOOKRUN_COMMITS_ALLOW leaves out."""
    words = os.environ.get("HOOKRUN_COMMITS_ALLOW", "").split()
    for word in words:
        rule, colon, commit = word.partition(":")
        if rule not in RULES:
            raise Blocked(f"HOOKRUN_COMMITS_ALLOW: `{word}` is neither a rule nor RULE:COMMIT; {meant(rule, RULES)}")
        if colon and not re.fullmatch(NUMBER, commit):
            raise Blocked(f"HOOKRUN_COMMITS_ALLOW: `{word}` needs a full commit ID; `git rev-parse` prints it")
    return words


def check_keys(event):
    """A key that is not known could be a slip, and what it should say would not count."""
    for key, value in event.items():
        if key not in [*KEYS, "event", "sessionId"]:
            raise Blocked(f"the event has an unknown key, `{key}`; {meant(key, KEYS)}")
        if not isinstance(value, str) or not value or "\0" in value:
            raise Blocked(f"`{key}` must be a non-empty string, not {json.dumps(value)}")


def is_same(folder):
    return os.path.isdir(folder) and os.path.samefile(folder, ".")


def is_here(cwd):
    """Whether we are in the event's `cwd`: hookrun starts a hook elsewhere if there is no such folder."""
    if os.path.isdir(cwd):
        return True  # There is one even from here, so hookrun has found it.
    # It is seen from where hookrun is: the folder of our parent, or what the shell called its own.
    starts = [f"/proc/{os.getppid()}/cwd", os.environ.get("PWD", "")]
    if not any(map(is_same, starts)):
        starts.append(os.environ.get("HOOKRUN_PROJECT_DIR", ""))
    return any(is_same(os.path.join(start, cwd)) for start in starts)


def check(event):
    check_keys(event)
    if "cwd" in event and not is_here(event["cwd"]):
        raise Blocked(f"`cwd` is `{event['cwd']}`, which is not a folder")
    if git("rev-parse", "--is-shallow-repository").strip() != b"false":
        raise Blocked("this clone is shallow; fetch the full history with `git fetch --unshallow`")
    base, head = commit_of(event["base"]), commit_of(event.get("head", "HEAD"))
    limit = os.environ.get("HOOKRUN_COMMITS_LARGE") or "1048576"
    if not re.fullmatch("[0-9]+", limit):
        raise Blocked(f"HOOKRUN_COMMITS_LARGE must be a number of bytes, not `{limit}`")
    try:
        re.compile(os.environ.get("HOOKRUN_COMMITS_SUBJECT", ""))
    except re.error as error:
        raise Blocked(f"HOOKRUN_COMMITS_SUBJECT is not a valid regular expression: {error}") from None

    left_out, errors, findings = allowed(), [], []

    def wrong(rule, commit, called, place=None):
        if rule not in left_out and f"{rule}:{commit}" not in left_out:
            errors.append(f"{called} [{rule}]")
            findings.extend([{**place, "message": f"{called} [{rule}]"}] if place else [])

    commits = git("rev-list", "--topo-order", "--reverse", head, f"^{base}")
    large, objects = large_files(base, head, int(limit)), Objects()
    for number in commits.decode().split():
        parents, author, message, as_bytes = message_of(objects.read(number))
        subject = message.partition("\n")[0][:60]
        for rule, problem in judge_message(parents, author, message, event["base"]):
            wrong(rule, number, f"{number[:12]} ({subject}): {problem}")
        for what in secrets_in(as_bytes):
            wrong("secret", number, f"{number[:12]}: its message contains {what}")
    for number, path, before, now in changes(commits):
        for line, what in added_secrets(objects, before, now):
            wrong("secret", number, f"{number[:12]} adds {what} in {path}:{line}", {"path": path, "line": line})
        if size := large.pop(now, None):
            wrong("large", number, f"{number[:12]}: {path} has {size} bytes; the limit is {limit}", {"path": path})
    return commits.count(b"\n"), errors, findings


def main():
    try:
        count, errors, findings = check(json.load(sys.stdin.buffer))
    except (Blocked, OSError) as problem:
        sys.exit(f"the commits were not checked: {problem}")
    if errors:
        shown = errors[:MOST_FINDINGS] + [f"and {len(errors) - MOST_FINDINGS} more"] * (len(errors) > MOST_FINDINGS)
        reason = "the commits are blocked:\n" + "\n".join(shown)
        print(json.dumps({"continue": False, "reason": reason, "findings": findings[:MOST_FINDINGS]}))
    else:
        print("1 commit passed" if count == 1 else f"{count} commits passed")


main()
