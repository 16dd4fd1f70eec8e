//! Kept decisions for people with a browser and for other programs: one model, [`LoggedDecision`],
//! and a writer for each format. Nothing is read and no clock is looked at, so the same decisions
//! make the same bytes.

mod chrome;
mod decision;
mod flat;
mod folded;
pub mod html;
mod opa;
mod otlp;

pub use decision::{DecisionWriter, HookCall, LoggedDecision};

/// A format that programs read.
#[derive(Debug)]
pub struct ExportFormat {
    /// The option that names its file.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    pub begin: fn() -> Box<dyn DecisionWriter>,
}

/// All of them.
pub const EXPORTS: &[ExportFormat] = &[
    ExportFormat {
        name: "chrome-trace",
        summary: "A timeline for Perfetto and chrome://tracing",
        begin: || Box::new(chrome::ChromeTrace::default()),
    },
    ExportFormat {
        name: "folded",
        summary: "Folded stacks for flame graphs: session, event, hook, and microseconds",
        begin: || Box::new(folded::FoldedStacks::default()),
    },
    ExportFormat {
        name: "flat",
        summary: "A flat line of JSON for each decision, for DuckDB, Polars or SQLite",
        begin: || Box::new(flat::FlatLines),
    },
    ExportFormat {
        name: "otlp-logs",
        summary: "Log records of OpenTelemetry (OTLP in JSON), a line for each decision",
        begin: || Box::new(otlp::OtlpLogs),
    },
    ExportFormat {
        name: "otlp-traces",
        summary: "Spans of OpenTelemetry (OTLP in JSON), a line for each decision with its hooks",
        begin: || Box::new(otlp::OtlpTraces),
    },
    ExportFormat {
        name: "opa",
        summary: "Decision logs of Open Policy Agent, a line for each decision",
        begin: || Box::new(opa::OpaLines),
    },
];
