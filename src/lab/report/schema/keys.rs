//! The keys of the reports. A path names a key: `hooks[].line?` is a key that may be missing, in each
//! table of the list `hooks`; `*` is any name.

#[derive(Debug)]
pub(super) struct ReportKey {
    pub(super) path: &'static str,
    /// A type of JSON; `any`; words divided by `|`; with `?` at its end, or null.
    pub(super) kind: &'static str,
    pub(super) about: &'static str,
}

const fn key(path: &'static str, kind: &'static str, about: &'static str) -> ReportKey {
    ReportKey { path, kind, about }
}

pub(super) const VERSION: &[ReportKey] = &[key("version", "integer", "the version of this form")];

/// What was decided, and how every hook ran.
#[rustfmt::skip]
pub(super) const RUN: &[ReportKey] = &[
    key("version", "integer", "the version of this form"),
    key("event", "string", "the event, by its name in hookrun"),
    key("host", "string", "the host, or `native`"),
    key("decision", "allow|ask|block", "what was decided"),
    key("reason?", "string", "why it was blocked"),
    key("decidedBy?", "string", "the hook that blocked"),
    key("cause?", "policy|failure|person", "what blocked: a hook's decision, a failure, or a person"),
    key("questions[].hook", "string", "the hook that asks"),
    key("questions[].question", "string", "its question"),
    key("output?", "string", "what hooks show to the person"),
    key("additionalContext?", "string", "what hooks tell the model"),
    key("update", "object", "the fields that were rewritten, with their new values"),
    key("rewrites[].hook", "string", "the hook that rewrote"),
    key("rewrites[].field", "string", "what it rewrote"),
    key("rewrites[].old", "any", "the value before"),
    key("rewrites[].new", "any", "the value after"),
    key("rewrites[].rejected?", "string", "why the rewrite did not count"),
    key("findings[].hook", "string", "the hook that found it"),
    key("findings[].path", "string", "the file"),
    key("findings[].line?", "integer", "the line, from 1"),
    key("findings[].level", "error|warning|notice", "how bad it is"),
    key("findings[].message", "string", "what it is"),
    key("notices[].hook", "string", "the hook, or `hookrun`"),
    key("notices[].kind", "refusal|question|failure|own", "what was said without effect"),
    key("notices[].text", "string", "its words"),
    key("reminders[].kind", "output|blocked|context", "what it reports"),
    key("reminders[].hook", "string", "the hook"),
    key("reminders[].text", "string", "the text for the model"),
    key("hooks[].name", "string", "the hook"),
    key("hooks[].file", "string", "its file"),
    key("hooks[].line?", "integer", "its line there"),
    key("hooks[].layer", "system|user|project|explicit", "where it was found"),
    key("hooks[].set?", "string", "the shared set that brought it"),
    key("hooks[].function?", "boolean", "it is a function of the program that embeds hookrun"),
    key("hooks[].wants", "string", "what it matches, in words"),
    key("hooks[].onFailure", "allow|block", "what its failure means"),
    key("hooks[].fate", "disabled|idle|unwanted|unreached|detached|ran", "what became of it"),
    key("hooks[].why?", "string", "why it did not run"),
    key("hooks[].ending?", "string", "`answered`, `voided`, or the name of its failure"),
    key("hooks[].status?", "integer", "its exit status"),
    key("hooks[].signal?", "integer", "the signal that killed it"),
    key("hooks[].timeoutMs?", "number", "how long it might run, in milliseconds"),
    key("hooks[].afterMs?", "number", "when it began, in milliseconds after the decision did"),
    key("hooks[].tookMs?", "number", "how long it ran, in milliseconds"),
    key("hooks[].stdout?.text", "string", "what it wrote, or the end of that"),
    key("hooks[].stdout?.bytes", "integer", "how much it wrote"),
    key("hooks[].stdout?.cut?", "boolean", "the text is only the end"),
    key("hooks[].stderr?.text", "string", "what it wrote, or the end of that"),
    key("hooks[].stderr?.bytes", "integer", "how much it wrote"),
    key("hooks[].stderr?.cut?", "boolean", "the text is only the end"),
    key("hooks[].verdict?.decision", "allow|ask|block", "what it decided"),
    key("hooks[].verdict?.rule", "string", "the row of the table of answers that applied"),
    key("hooks[].verdict?.reason?", "string", "its reason, or its question"),
    key("hooks[].verdict?.output?", "string", "what it shows to the person"),
    key("hooks[].verdict?.additionalContext?", "string", "what it tells the model"),
    key("hooks[].verdict?.update?", "object", "what it rewrites"),
    key("hooks[].verdict?.findings?", "array", "what it found, as in `findings`"),
    key("hooks[].failure?", "string", "what failed, in words"),
    key("hooks[].containment?", "group|sweep|cgroup|pidns", "how its processes were held together"),
    key("hooks[].start?", "string", "`warm`, or why it started cold"),
    key("hooks[].notes?[]", "string", "a hint for its author"),
    key("reply.stdout", "string", "what the host gets on stdout"),
    key("reply.stderr", "string", "what the host gets on stderr"),
    key("reply.status", "integer", "the exit status that the host gets"),
    key("tookMs", "number", "how long the decision took, in milliseconds"),
    key("decidedEarlierFor?", "string", "the host and its event for which the same call was decided before"),
];

/// What a line of the log has around the decision.
#[rustfmt::skip]
pub(super) const LINE: &[ReportKey] = &[
    key("hookrun", "integer", "the version of this form"),
    key("time", "string", "when it was decided (RFC 3339, UTC)"),
    key("event", "string", "the event, by its name in hookrun"),
    key("host", "string", "the host, or `native`"),
    key("session?", "string", "the session of the host"),
    key("cwd?", "string", "the folder in which hookrun started"),
    key("door?", "string", "how `serve` was called; missing for a command"),
    key("trace?.id", "string", "the trace of W3C Trace Context that it belongs to"),
    key("trace?.span", "string", "its span in the trace"),
    key("trace?.parent?", "string", "the span around it, if hookrun got one"),
    key("context?", "object", "the event's context, secrets replaced"),
    key("truncated?[]", "string", "what was too long and is cut: a dotted path"),
];

#[rustfmt::skip]
pub(super) const STATS: &[ReportKey] = &[
    key("version", "integer", "the version of this form"),
    key("decisions", "integer", "how many there are"),
    key("allowed", "integer", "how many allowed"),
    key("refused", "integer", "how many blocked"),
    key("asked", "integer", "how many asked a person"),
    key("from", "string?", "the time of the first"),
    key("to", "string?", "the time of the last"),
    key("hooks[].name", "string", "the hook"),
    key("hooks[].calls", "integer", "how often it ran"),
    key("hooks[].refusals", "integer", "how often it blocked"),
    key("hooks[].questions", "integer", "how often it asked"),
    key("hooks[].failures", "integer", "how often it failed"),
    key("hooks[].p50Ms", "number", "half of its runs took at most this"),
    key("hooks[].p90Ms", "number", "90 % of its runs took at most this"),
    key("hooks[].p99Ms", "number", "99 % of its runs took at most this"),
    key("hooks[].maxMs", "number", "its longest run"),
    key("hooks[].totalMs", "number", "all its runs together"),
];

/// The first line, a line for each finding, and the last line.
#[rustfmt::skip]
pub(super) const REPLAY: &[ReportKey] = &[
    key("hookrunReplay?", "integer", "first line: the version of this form"),
    key("inputs?[]", "string", "first line: a file"),
    key("partition?", "string", "first line: the part, `3/8`"),
    key("against?", "string", "first line: the folder of the other hooks"),
    key("hooks?[]", "string", "first line: a folder of hooks that was named"),
    key("settings?[]", "string", "first line: a settings file that was named"),
    key("discover?", "boolean", "first line: the usual hooks ran as well"),
    key("allowChange?[]", "string", "first line: a hook whose decisions may change"),
    key("strict?", "boolean", "first line: other words count as changes"),
    key("allowUndecided?", "boolean", "first line: an event that cannot be decided is no failure"),
    key("finding?", "changed|undecided|unreadable", "a finding: what it is"),
    key("input?", "integer", "a finding: the number of its file, from 0"),
    key("line?", "integer", "a finding: the line, from 1"),
    key("file?", "string", "a finding: the file"),
    key("event?", "string", "a finding: the event"),
    key("host?", "string", "a change: the host"),
    key("time?", "string", "a change: when it was recorded"),
    key("session?", "string", "a change: the session"),
    key("about?", "string", "a change: the tool and its command"),
    key("differs?[]", "decision|cause|hook|reason|rewrites|output|context", "a change: what is different"),
    key("expected?", "boolean", "a change: `--allow-change` names its hook"),
    key("why?", "string", "why the event could not be decided"),
    key("problem?", "string", "why the line cannot be read"),
    key("ended?", "same|changed|incomplete", "last line: how the replay ended"),
    key("totals?.events", "integer", "last line: the events"),
    key("totals?.same", "integer", "decided as recorded"),
    key("totals?.reworded", "integer", "of these, in other words"),
    key("totals?.changed", "integer", "decided differently"),
    key("totals?.expected", "integer", "of these, expected by `--allow-change`"),
    key("totals?.undecided", "integer", "not kept whole, so not decided"),
    key("totals?.unreadable", "integer", "lines and files that cannot be read"),
    key("totals?.turns.*", "integer", "how often a decision became another: `allow → block`"),
];

#[rustfmt::skip]
pub(super) const COMPARED: &[ReportKey] = &[
    key("decision", "allow|ask|block", "the decision"),
    key("cause?", "policy|failure|person", "what blocked"),
    key("hook?", "string", "the hook that blocked or asked"),
    key("reason?", "string", "its reason or question"),
    key("rewrites?[].hook", "string", "the hook that rewrote"),
    key("rewrites?[].field", "string", "what it rewrote"),
    key("rewrites?[].new", "any", "the new value"),
    key("output?", "string", "what hooks show to the person"),
    key("additionalContext?", "string", "what hooks tell the model"),
];

#[rustfmt::skip]
pub(super) const COST: &[ReportKey] = &[
    key("calls", "integer", "how often it ran"),
    key("refusals", "integer", "how often it blocked"),
    key("questions", "integer", "how often it asked"),
    key("failures", "integer", "how often it failed"),
    key("latencies.totalUs", "integer", "all its runs together, in microseconds"),
    key("latencies.mostUs", "integer", "its longest run, in microseconds"),
    key("latencies.steps[]", "array", "a step of the histogram, and how many runs are in it"),
];

#[rustfmt::skip]
pub(super) const SUITE: &[ReportKey] = &[
    key("version", "integer", "the version of this form"),
    key("ok", "boolean", "everything passed"),
    key("total", "integer", "the cases"),
    key("expected", "integer", "the cases that passed"),
    key("unexpected", "integer", "the cases that failed"),
    key("couldNot", "integer", "the cases that could not run"),
    key("skipped", "integer", "the cases that were skipped"),
    key("notRun", "integer", "the cases that were left when the suite was interrupted"),
    key("tookMs", "number", "how long all took, in milliseconds"),
    key("cases[].file", "string", "the file of the case"),
    key("cases[].line", "integer", "its line"),
    key("cases[].name", "string", "its name"),
    key("cases[].event", "string", "its event"),
    key("cases[].result", "expected|unexpected|could-not|skipped|not-run", "what came of it"),
    key("cases[].tookMs", "number", "how long it took, in milliseconds"),
    key("cases[].why?", "string", "why it was skipped, or could not run"),
    key("cases[].misses?[].key", "string", "what differs"),
    key("cases[].misses?[].line", "integer", "the line of the expectation"),
    key("cases[].misses?[].column", "integer", "its column"),
    key("cases[].misses?[].wanted", "string", "what the case expects"),
    key("cases[].misses?[].found", "string", "what it got"),
    key("cases[].misses?[].step?", "integer", "the number of the step"),
    key("coverage?.ok", "boolean", "it is enough for `--fail-under`"),
    key("coverage?.percent", "number", "the share that is covered"),
    key("coverage?.least", "number?", "what `--fail-under` wants"),
    key("coverage?.covered", "integer", "the points that are covered"),
    key("coverage?.total", "integer", "all points"),
    key("coverage?.parts[].event", "string", "the event"),
    key("coverage?.parts[].hook", "string?", "the hook; null for the event itself"),
    key("coverage?.parts[].file", "string", "its file"),
    key("coverage?.parts[].line", "integer?", "its line"),
    key("coverage?.parts[].points[].name", "string", "a point of coverage"),
    key("coverage?.parts[].points[].state", "covered|missing|never", "whether a case shows it"),
    key("coverage?.parts[].points[].why", "string?", "what is missing, or why it never happens"),
    key("coverage?.missing[].event", "string", "the event"),
    key("coverage?.missing[].hook", "string?", "the hook; null for the event itself"),
    key("coverage?.missing[].file", "string", "its file"),
    key("coverage?.missing[].line", "integer?", "its line"),
    key("coverage?.missing[].point", "string", "what no case shows"),
    key("coverage?.missing[].lacks", "string", "the case to write"),
    key("coverage?.untrue[].file", "string", "the file with a wrong `[[never]]`"),
    key("coverage?.untrue[].line", "integer", "its line"),
    key("coverage?.untrue[].problem", "string", "what is wrong with it"),
    key("mutation?.total", "integer", "the mutants"),
    key("mutation?.noticed", "integer", "the mutants that a case killed"),
    key("mutation?.tookMs", "number", "how long they took, in milliseconds"),
    key("mutation?.trouble", "string?", "what could not be tried"),
    key("mutation?.mutants[].mutant", "string", "what was changed"),
    key("mutation?.mutants[].event", "string", "the event"),
    key("mutation?.mutants[].hook", "string", "the hook"),
    key("mutation?.mutants[].file", "string", "its file"),
    key("mutation?.mutants[].line", "integer?", "its line"),
    key("mutation?.mutants[].cases", "integer", "how many cases were played"),
    key("mutation?.mutants[].noticedBy", "string?", "the case that killed it"),
    key("mutation?.mutants[].lacks?", "string", "the case that would kill it"),
];

#[rustfmt::skip]
pub(super) const CONFORMANCE: &[ReportKey] = &[
    key("version", "integer", "the version of this form"),
    key("suite", "string", "what was tried"),
    key("ok", "boolean", "all vectors passed"),
    key("cases[].name", "string", "a vector"),
    key("cases[].about", "string", "the fact that it states"),
    key("cases[].ok", "boolean", "it passed"),
    key("cases[].misses[]", "string", "what differs"),
    key("cases[].tookMs", "integer", "how long it took, in milliseconds"),
];

#[rustfmt::skip]
pub(super) const HOOK: &[ReportKey] = &[
    key("name", "string", "the hook"),
    key("event", "string", "its event"),
    key("layer", "system|user|project|explicit", "where it was found"),
    key("set?", "string", "the shared set that brought it"),
    key("file", "string", "its file"),
    key("line?", "integer", "its line there"),
    key("wants", "string", "what it matches, in words"),
    key("deny?", "string", "a rule's reason"),
    key("ask?", "string", "a rule's question"),
    key("priority", "integer", "lower runs earlier"),
    key("parallel", "boolean", "it may run at the same time as its neighbours"),
    key("rules[].event", "string", "the event, as the host calls it"),
    key("rules[].blocks", "boolean", "the hook can block it"),
    key("rules[].onFailure", "allow|block", "what a failure of the hook means"),
    key("rules[].onFailureFrom", "event|hook|dialect", "where that comes from"),
    key("rules[].timeoutMs", "integer", "how long it may run, in milliseconds"),
    key("rules[].schedule", "sequential|parallel|detached", "how hooks of the event run"),
    key("background", "kill|detach", "what happens to processes that it leaves"),
    key("lives", "event|session", "how long its process lives"),
    key("warm", "off|fork|serve", "how its process starts"),
    key("limits.memoryBytes?", "integer", "the memory of all its processes"),
    key("limits.cpuMs?", "integer", "the processor time of all its processes"),
    key("limits.files?", "integer", "the open files of a process"),
    key("limits.processes?", "integer", "its processes at once"),
    key("limits.outputBytes?", "integer", "its output"),
    key("sandbox?.read", "array?", "what it may read; null for everything"),
    key("sandbox?.write", "array", "what it may change"),
    key("sandbox?.network", "boolean", "it may use the network"),
    key("sandbox?.required", "boolean", "it does not run without the sandbox"),
    key("containment", "auto|group|cgroup|pidns", "how its processes are held together"),
    key("rewrite", "boolean", "it may rewrite fields"),
    key("reads", "stdin|environment", "where it reads the event"),
    key("dialect", "string", "the convention that it was written for"),
    key("enabled", "boolean", "it runs"),
    key("idle?", "string", "why it never runs"),
    key("description?", "string", "what it does"),
];

#[rustfmt::skip]
pub(super) const PROGRAM: &[ReportKey] = &[
    key("program?", "string", "the program that starts"),
    key("problem?", "string", "why nothing can start"),
];

#[rustfmt::skip]
pub(super) const EXPLAIN: &[ReportKey] = &[
    key("event", "string", "the event whose hooks would run"),
    key("action", "object", "what the command line would do, as `action` in the context of the event"),
    key("hooks[].name", "string", "a hook of the event"),
    key("hooks[].file", "string", "its file"),
    key("hooks[].line?", "integer", "its line there"),
    key("hooks[].runs", "boolean", "it would run"),
    key("hooks[].why", "string", "why, or why not"),
    key("hooks[].says?.deny?", "string", "the reason with which a rule blocks"),
    key("hooks[].says?.ask?", "string", "the question of a rule"),
];

#[rustfmt::skip]
pub(super) const FILES: &[ReportKey] = &[
    key("ok", "boolean", "there are no errors"),
    key("files[].file", "string", "the file"),
    key("files[].hooks", "integer", "the hooks in it"),
    key("files[].ok", "boolean", "it has no errors"),
    key("files[].problems[].severity", "error|warning|note", "how bad it is"),
    key("files[].problems[].cause", "string", "what is wrong"),
    key("files[].problems[].line?", "integer", "the line, from 1"),
    key("files[].problems[].column?", "integer", "the column, from 1"),
    key("files[].problems[].cure?", "string", "what to do"),
];

#[rustfmt::skip]
pub(super) const EVENT: &[ReportKey] = &[
    key("name", "string", "the event"),
    key("summary", "string", "completes \"runs when …\""),
    key("aliases[]", "string", "another name of it"),
    key("blocks", "boolean", "a hook can block it"),
    key("mostRefusals?", "integer", "after so many blocks in a row it goes on"),
    key("textTeaches", "boolean", "what a hook prints is for the model"),
    key("onFailure", "allow|block", "what a failure of a hook means"),
    key("schedule", "sequential|parallel|detached", "how its hooks run"),
    key("rewrites[].field", "string", "a field that hooks may rewrite"),
    key("rewrites[].merge", "string", "how several rewrites come together"),
    key("context[].name", "string", "a key of the context"),
    key("context[].type", "string", "its type in JSON"),
    key("context[].about", "string", "what it is"),
    key("context[].required?", "boolean", "without it nothing is decided"),
    key("action?[].name", "string", "a key that hookrun adds"),
    key("action?[].type", "string", "its type in JSON"),
    key("action?[].about", "string", "what it is"),
    key("sample", "object", "a context"),
];

#[rustfmt::skip]
pub(super) const HOST: &[ReportKey] = &[
    key("dialect", "string", "the hook system"),
    key("host", "object?", "what is known about the host; null for a system of hooks"),
    key("events[].name", "string", "its name in the host"),
    key("events[].aliases[]", "string", "another name of it"),
    key("events[].event", "string", "its name in hookrun"),
    key("events[].when", "object?", "the key and the value that tell it from others of the same name"),
    key("events[].blocks", "boolean", "a hook can block it"),
    key("events[].mostRefusals", "integer?", "after so many blocks in a row it goes on"),
    key("events[].onFailure", "allow|block", "what a failure of a hook means"),
    key("events[].schedule", "sequential|parallel|detached", "how its hooks run"),
    key("events[].merging", "string", "how several results come together"),
    key("events[].timeoutMs", "integer?", "how long a hook may run, in milliseconds"),
    key("events[].wait", "object?", "how long the host waits"),
    key("events[].rewrites[].field", "string", "a field that hooks may rewrite"),
    key("events[].rewrites[].merge", "string", "how several rewrites come together"),
    key("events[].keys[].name", "string", "a key of the host"),
    key("events[].keys[].canonical", "string", "its name in hookrun"),
    key("events[].standIns[].name", "string", "a key that can replace another"),
    key("events[].standIns[].canonical", "string", "that other key, by its name in hookrun"),
    key("events[].results", "any", "what its hooks may answer"),
];

#[rustfmt::skip]
pub(super) const SHIPPED: &[ReportKey] = &[
    key("name", "string", "what `hookrun add` calls it"),
    key("sort", "hook|gate|rule", "what it is"),
    key("about", "string", "what it does"),
    key("events[]", "string", "an event of it"),
    key("files[]", "string", "a file of it"),
    key("isHere", "boolean", "it is in this project"),
];

#[rustfmt::skip]
pub(super) const SET: &[ReportKey] = &[
    key("name", "string", "the set"),
    key("source", "string", "where it comes from"),
    key("rev?", "string", "the tag, branch or commit that is declared"),
    key("commit?", "string", "the commit that is locked"),
    key("archive?", "string", "the digest of the archive that is locked"),
    key("tree?", "string", "the digest of its files"),
    key("files?", "integer", "how many files it has"),
    key("signedBy?", "string", "the key that signed it"),
    key("layer", "system|user|project|explicit", "where it is declared"),
    key("file", "string", "the file that declares it"),
    key("line", "integer", "the line there"),
    key("folder?", "string", "where its files are"),
    key("problem?", "string", "why it cannot be used"),
];
