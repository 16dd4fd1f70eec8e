#!/usr/bin/env -S python3 -IS
# Redacts secrets in tool output and prompts. One script, linked into three event folders:
#
#   tool.post       redacts secrets in a tool's result before the model reads it
#   prompt.submit   redacts secrets in a prompt before it is sent
#   message.out     blocks a message with a secret (as 10-block-secrets.py)
#
# It finds known forms of keys, passwords in URLs, private key blocks, values with names such as
# API_KEY=... and "client_secret": "...", and password options of common programs (mysql -p...,
# curl -u ...). It does not find a short password in a sentence, or an encoded or compressed secret.
#
# Settings:
#   HOOKRUN_REDACT_EXTRA   one more regular expression; the whole match is a secret
#   HOOKRUN_REDACT_WITH    the replacement for a secret (default: [REDACTED])
#
# hookrun: rewrite priority=10

import functools
import json
import os
import re
import sys

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
FIELDS = {"tool.post": ["result"], "prompt.submit": ["prompt"], "message.out": ["content", "message"]}
ANSWER_LIMIT = 1 << 20  # hookrun takes no longer answer.


class Redactor:
    """Replaces secrets, and counts them by kind in `found`."""

    def __init__(self, extra, replacement):
        self.extra = re.compile(extra) if extra else None
        self.replacement = replacement
        self.found = {}

    def value(self, value, name=""):
        """Any JSON value; `name` is the key under which it stands."""
        if isinstance(value, str):
            return self.replace("secret") if is_secret_of(name, value) else self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {key: self.value(item, key) for key, item in value.items()}
        return value

    def text(self, text):
        small = text.lower()
        for kind, _, scope, has_digit, words, pattern in SECRETS:
            if any(word in small for word in words):
                least = 6 if scope == "messages with a digit" else 0
                put = functools.partial(self.put, kind, has_digit or least > 0, least)
                text = re.sub(pattern, put, text, flags=re.ASCII)
        return self.extra.sub(lambda _: self.replace("your secret"), text) if self.extra else text

    def put(self, kind, has_digit, least, found):
        groups = found.groupdict("")
        keep, end = groups.get("keep", ""), groups.get("end", "")
        secret = found[0][len(keep) : len(found[0]) - len(end)]
        is_word = len(secret) < least or (has_digit and not re.search("[0-9]", secret))
        if is_word or secret.startswith(self.replacement):
            return found[0]
        return keep + self.replace(kind) + end

    def replace(self, kind):
        self.found[kind] = self.found.get(kind, 0) + 1
        return self.replacement


def is_secret_of(name, value):
    """Whether a value is a secret because of the key that it stands under."""
    plain = name.replace("_", "").replace("-", "").lower()
    is_like = re.fullmatch(r"(?![\[$<])(?=\S{16}|\S*[0-9])\S{8,}", value)
    return is_like is not None and any(map(plain.endswith, SECRET_KEYS))


def block(reason):
    print(reason, file=sys.stderr)
    sys.exit(1)


def keep_back(event, carried, problem):
    """Blocks unsafe text, or withholds it if the tool has already run."""
    if event != "tool.post":
        block(problem)
    print(json.dumps({"update": {field: f"[withheld: {problem}]" for field in carried}}))


def main():
    context = json.load(sys.stdin.buffer)
    event = os.environ.get("HOOKRUN_EVENT") or context.get("event")
    carried = {field: context[field] for field in FIELDS.get(event, []) if context.get(field) is not None}
    if not carried:
        return

    extra = os.environ.get("HOOKRUN_REDACT_EXTRA")
    try:
        redactor = Redactor(extra, os.environ.get("HOOKRUN_REDACT_WITH", "[REDACTED]"))
    except re.error as error:
        return keep_back(event, carried, f"HOOKRUN_REDACT_EXTRA is not a valid regular expression: {error}")

    redacted = redactor.value(carried)
    if not redactor.found:
        return
    kinds = ", ".join(f"{count} x {kind}" for kind, count in redactor.found.items())
    if event == "message.out":
        block(f"the message contains a secret and was not sent: {kinds}\ninstead: remove the secret, and say where it is stored")
    answer = json.dumps({"update": redacted, "additionalContext": f"Redacted in the {', '.join(redacted)}: {kinds}."})
    if len(answer) >= ANSWER_LIMIT:
        return keep_back(event, carried, f"the text contains a secret ({kinds}) and is too long to redact; use a smaller part")
    print(answer)


main()
