//! The pictures of the README: a terminal in which a force push is blocked, and how fast other runners
//! are. `UPDATE_GOLDEN=1 cargo test --test it pictures` draws them anew.

use std::fmt::Write as _;

use serde_json::json;

use super::{read, settle, shell, timeless};
use crate::sandbox::Sandbox;

/// What a person types, and the call that Claude Code asks about before it makes it.
const SCENES: &[&str] = &[
    "$ hookrun add no-force-push",
    "$ hookrun test",
    "$ hookrun install claude",
    "claude> Bash(cd web && git push -uf origin main)",
    "$ hookrun why | grep -A3 '^BLOCK '",
];

/// The columns of the terminal. Nothing may be longer: it would be cut off.
const COLUMNS: usize = 86;

/// The size of a character and of the space around the text, in units of the pictures.
const CHARACTER: f64 = 8.43;
const LINE: f64 = 20.0;
const GAP: f64 = 8.0;
const MARGIN: f64 = 20.0;
const TITLE_BAR: f64 = 24.0;

/// The film begins with its last frame, so that everybody sees the block first. In seconds.
const LAST_FRAME: f64 = 6.0;
const KEY: f64 = 0.03;
const THINKING: f64 = 0.3;
const READING: f64 = 1.0;

/// Both pictures are a card with its own background, in the colours that the reader prefers.
const COLOURS: &str = "\
.card { fill: #ffffff; stroke: #d1d9e0 }
text { fill: #1f2328 }
.dot, .bar { fill: #afb8c1 }
.own, .typed { fill: #1a7f37 }
.agent { fill: #8250df }
.block { fill: #cf222e }
@media (prefers-color-scheme: dark) {
  .card { fill: #0d1117; stroke: #3d444d }
  text { fill: #d1d7e0 }
  .dot, .bar { fill: #57606a }
  .own, .typed { fill: #56d364 }
  .agent { fill: #d2a8ff }
  .block { fill: #ff7b72 }
}
";

/// A command with what it printed, and when these appear, in seconds from the start.
struct Scene {
    typed: &'static str,
    printed: Vec<String>,
    typed_from: f64,
    typed_to: f64,
    printed_at: f64,
}

impl Scene {
    fn is_block(&self) -> bool {
        self.typed.starts_with("claude> ")
    }
}

#[test]
fn the_terminal_in_the_readme_shows_what_hookrun_prints() {
    let sandbox = Sandbox::new();
    let place = sandbox.at("home/shop");
    std::fs::create_dir_all(&place).unwrap();
    let mut clock = LAST_FRAME;
    let mut scenes = Vec::new();
    for typed in SCENES {
        let printed = shell(&command(typed), &sandbox, &place);
        let typed_to = clock + KEY * typed.len() as f64;
        scenes.push(Scene {
            typed,
            printed: printed.lines().map(String::from).collect(),
            typed_from: clock,
            typed_to,
            printed_at: typed_to + THINKING,
        });
        clock = typed_to + THINKING + READING;
    }
    let block = scenes.iter().find(|scene| scene.is_block()).unwrap();
    assert_eq!(block.printed.len(), 1, "{:?}", block.printed);
    let hidden = block.printed_at - LAST_FRAME;
    assert!(hidden < clock / 2.0, "{hidden} of {clock} s");
    keep("docs/demo.svg", &film(&scenes, clock));
}

/// What is run for a line of the picture: the command, or the agent's question to hookrun.
fn command(typed: &str) -> String {
    let Some(call) = typed.strip_prefix("claude> Bash(") else {
        return typed.trim_start_matches("$ ").to_string();
    };
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s-1", "tool_name": "Bash",
        "tool_input": { "command": call.trim_end_matches(')') },
    });
    format!("echo '{event}' | hookrun run --host claude")
}

fn film(scenes: &[Scene], seconds: f64) -> String {
    let width = MARGIN * 2.0 + CHARACTER * COLUMNS as f64;
    let mut style = String::new();
    let mut lines = String::new();
    let mut y = TITLE_BAR;
    let hidden = 100.0 * LAST_FRAME / seconds;
    for (number, scene) in scenes.iter().enumerate() {
        let from = 100.0 * scene.typed_from / seconds;
        let to = 100.0 * scene.typed_to / seconds;
        let at = 100.0 * scene.printed_at / seconds;
        let keys = scene.typed.len();
        writeln!(
            style,
            ".t{number} {{ animation: t{number} {seconds:.1}s step-end infinite }}\n\
             @keyframes t{number} {{ 0% {{ clip-path: inset(0) }} {hidden:.2}% {{ clip-path: inset(0 100% 0 0) }} \
             {from:.2}% {{ clip-path: inset(0 100% 0 0); animation-timing-function: steps({keys}) }} \
             {to:.2}%, 100% {{ clip-path: inset(0) }} }}\n\
             .p{number} {{ animation: p{number} {seconds:.1}s step-end infinite }}\n\
             @keyframes p{number} {{ 0% {{ opacity: 1 }} {hidden:.2}% {{ opacity: 0 }} {at:.2}%, 100% {{ opacity: 1 }} }}"
        )
        .unwrap();
        y += GAP + LINE;
        let (by, class) = if scene.is_block() {
            ("agent", "block")
        } else {
            ("typed", "printed")
        };
        line(&mut lines, y, &format!("{by} t{number}"), scene.typed);
        writeln!(lines, "<g class=\"p{number}\">").unwrap();
        for printed in &scene.printed {
            y += LINE;
            line(&mut lines, y, class, printed);
        }
        lines.push_str("</g>\n");
    }
    let mut dots = String::new();
    for x in [20, 36, 52] {
        writeln!(dots, "<circle class=\"dot\" cx=\"{x}\" cy=\"18\" r=\"5\"/>").unwrap();
    }
    let font = "14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace";
    card(
        width,
        y + MARGIN,
        &SCENES.join(", "),
        &format!(
            "text {{ font: {font}; white-space: pre }}\n.typed, .agent, .block {{ font-weight: bold }}\n{style}\
             @media (prefers-reduced-motion: reduce) {{ text, g {{ animation: none !important }} }}\n"
        ),
        &(dots + &lines),
    )
}

fn line(lines: &mut String, y: f64, class: &str, text: &str) {
    let columns = text.chars().count();
    assert!(columns <= COLUMNS, "{columns} columns: {text}");
    let text = escaped(text);
    writeln!(
        lines,
        "<text xml:space=\"preserve\" class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\">{text}</text>"
    )
    .unwrap();
}

/// A runner's time with one hook, as a multiple of that of hookrun's shipped build.
struct Bar {
    runner: String,
    times: f64,
}

#[test]
fn the_bars_in_the_readme_are_the_benchmarks() {
    let mut bars: Vec<Bar> = rows("peers")
        .iter()
        .filter(|cells| !cells[3].starts_with("not available"))
        .map(|cells| Bar {
            runner: cells[1].clone(),
            times: median(&cells[3]),
        })
        .collect();
    let own = bars.iter().filter(|bar| bar.is_own()).count();
    assert_eq!(own, 2, "both builds of hookrun");
    bars.sort_by(|one, other| one.times.total_cmp(&other.times));
    keep("docs/speed.svg", &plot(&bars));
}

impl Bar {
    fn is_own(&self) -> bool {
        self.runner.starts_with("hookrun")
    }
}

fn plot(bars: &[Bar]) -> String {
    let title = "One no-op hook: time as a multiple of hookrun's shipped build";
    let most = bars.iter().map(|bar| bar.times).fold(1.0, f64::max);
    let mut body = format!("<text class=\"title\" x=\"{MARGIN}\" y=\"34\">{title}</text>\n");
    let mut y = 52.0;
    for bar in bars {
        let class = if bar.is_own() { "own" } else { "bar" };
        let width = 460.0 * bar.times / most;
        writeln!(
            body,
            "<text x=\"{MARGIN}\" y=\"{}\">{}</text>\
             <rect class=\"{class}\" x=\"212\" y=\"{y}\" width=\"{width:.0}\" height=\"18\" rx=\"3\"/>\
             <text x=\"{:.0}\" y=\"{}\">{:.1}</text>",
            y + 14.0,
            escaped(&bar.runner),
            width + 220.0,
            y + 14.0,
            bar.times
        )
        .unwrap();
        y += 28.0;
    }
    let style = "text { font: 14px system-ui, sans-serif }\n.title { font-weight: 600 }\n";
    card(760.0, y + 8.0, title, style, &body)
}

/// The sentence of the README about the bars.
pub(super) fn speed_in_short() -> String {
    format!(
        "With one no-op hook, prek takes {:.1} to {:.1} times as long as hookrun, and lefthook \
         takes {:.1} to {:.1} times as long. For a commit with three hooks, they take {:.1} and {:.1} times as long, respectively. \
         See [benchmarks](docs/benchmarks.md) for the method, and for cases where hookrun is slower.\n",
        times("peers", "prek", 5),
        times("peers", "prek", 3),
        times("peers", "lefthook", 5),
        times("peers", "lefthook", 3),
        times("commits", "prek", 2),
        times("commits", "lefthook", 2),
    )
}

fn times(part: &str, runner: &str, column: usize) -> f64 {
    let rows = rows(part);
    let row = rows.iter().find(|cells| cells[1] == runner);
    median(&row.unwrap_or_else(|| panic!("{part}: no row {runner}"))[column])
}

/// The rows of a table that benches/peers.sh has written into the page about benchmarks.
fn rows(part: &str) -> Vec<Vec<String>> {
    let page = read("docs/benchmarks.md");
    let (_, table) = page.split_once(&format!("<!-- {part} -->\n")).unwrap();
    let rows = table.lines().take_while(|row| row.starts_with('|')).skip(2);
    rows.map(|row| row.split('|').map(|cell| cell.trim().to_string()).collect())
        .collect()
}

/// The number at the beginning of a cell; the middle half follows it.
fn median(cell: &str) -> f64 {
    let number = cell.split(' ').next().unwrap();
    number
        .parse()
        .unwrap_or_else(|_| panic!("no number: {cell}"))
}

fn card(width: f64, height: f64, label: &str, style: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n\
         <style>\n{COLOURS}{style}</style>\n\
         <rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n{body}</svg>\n",
        escaped(label),
        width - 1.0,
        height - 1.0
    )
}

/// Compares a picture with what it should be; what only took another time stays.
fn keep(picture: &str, made: &str) {
    let kept = read(picture);
    if timeless(&kept) != timeless(made) {
        settle(picture, &kept, made);
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
