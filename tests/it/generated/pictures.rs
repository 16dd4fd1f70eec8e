//! The pictures of the README: a terminal in which a force push is blocked, and how fast other runners
//! are. `UPDATE_GOLDEN=1 cargo test --test it pictures` draws them anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::{read, settle, shell, timeless};
use crate::sandbox::Sandbox;

/// The columns of the terminal; longer lines are cut.
const COLUMNS: usize = 84;

/// The height of a line, and the width of a character, in units of the picture.
const LINE: f64 = 20.0;
const CHARACTER: f64 = 8.4;

const MARGIN: f64 = 20.0;

/// How long the film of the terminal is, in seconds.
const FILM: f64 = 15.0;

/// What a person types, what the terminal shows for it, and when, in seconds.
struct Scene {
    typed: &'static str,
    runs: &'static str,
    at: f64,
}

/// What an agent sends before it runs a command.
const PUSH: &str = r#"echo '{"hook_event_name":"PreToolUse","session_id":"s-1","tool_name":"Bash","tool_input":{"command":"cd web && git push -uf origin main"}}' | hookrun run --host claude"#;

#[rustfmt::skip]
const SCENES: &[Scene] = &[
    Scene { typed: "$ hookrun add no-force-push", runs: "hookrun add no-force-push >/dev/null; cat hooks.d/tool.pre/50-no-force-push.toml", at: 0.3 },
    Scene { typed: "$ hookrun install claude", runs: "hookrun install claude | head -3", at: 3.0 },
    Scene { typed: "claude> Bash(cd web && git push -uf origin main)", runs: PUSH, at: 6.0 },
    Scene { typed: "$ hookrun why", runs: "hookrun why | sed -n '/^BLOCK /,/took/p'", at: 9.0 },
];

/// A line, and when it appears.
struct FilmLine {
    text: String,
    at: f64,
}

#[test]
fn the_terminal_in_the_readme_shows_what_hookrun_prints() {
    let sandbox = Sandbox::new();
    let place = sandbox.at("home/shop");
    fs::create_dir_all(&place).unwrap();
    let mut lines = Vec::new();
    for Scene { typed, runs, at } in SCENES {
        lines.push(FilmLine {
            text: (*typed).to_string(),
            at: *at,
        });
        let printed = shell(runs, &sandbox, &place);
        assert!(!printed.contains("error"), "{runs}: {printed}");
        for text in printed.lines() {
            let text: String = text.chars().take(COLUMNS).collect();
            lines.push(FilmLine { text, at: at + 1.2 });
        }
    }
    keep("docs/demo.svg", &film(&lines));
}

fn film(lines: &[FilmLine]) -> String {
    let width = MARGIN * 2.0 + CHARACTER * COLUMNS as f64;
    let height = MARGIN * 2.0 + LINE * lines.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"hookrun add no-force-push, hookrun install claude, a force push that is blocked, and hookrun why\">\n\
         <style>\n\
         text {{ font: 14px ui-monospace, Menlo, Consolas, monospace; fill: #c9d1d9; white-space: pre }}\n\
         .typed {{ fill: #7ee787; font-weight: bold }}\n\
         .no {{ fill: #ff7b72; font-weight: bold }}\n"
    );
    let mut times: Vec<f64> = lines.iter().map(|line| line.at).collect();
    times.dedup();
    for (number, at) in times.iter().enumerate() {
        let percent = at / FILM * 100.0;
        writeln!(
            svg,
            ".s{number} {{ animation: s{number} {FILM}s infinite }}\n\
             @keyframes s{number} {{ 0%, {percent:.1}% {{ opacity: 0 }} {:.1}%, 100% {{ opacity: 1 }} }}",
            percent + 0.5
        )
        .unwrap();
    }
    svg.push_str(
        "@media (prefers-reduced-motion: reduce) { text { animation: none !important } }\n</style>\n",
    );
    writeln!(
        svg,
        "<rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"#0d1117\"/>"
    )
    .unwrap();
    for (row, line) in lines.iter().enumerate() {
        let scene = times.iter().position(|at| *at == line.at).unwrap();
        let is_typed = line.text.starts_with("$ ") || line.text.starts_with("claude> ");
        let is_block = line.text.starts_with("BLOCK") || line.text.starts_with("push to a branch");
        let class = match (is_typed, is_block) {
            (true, _) => " typed",
            (_, true) => " no",
            _ => "",
        };
        let y = MARGIN + LINE * (row as f64 + 0.75);
        let text = escaped(&line.text);
        writeln!(svg, "<text xml:space=\"preserve\" class=\"s{scene}{class}\" x=\"{MARGIN}\" y=\"{y}\">{text}</text>")
            .unwrap();
    }
    svg + "</svg>\n"
}

/// How many times as long as hookrun a runner takes with one hook.
struct Bar {
    runner: String,
    times: f64,
}

#[test]
fn the_plot_in_the_readme_has_the_numbers_of_the_benchmarks() {
    let page = read("docs/benchmarks.md");
    let (_, table) = page.split_once("## Against other runners").unwrap();
    let rows = table
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2);
    let bars = rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let times = cells[3].split(' ').next().unwrap().parse().unwrap();
        Bar {
            runner: cells[1].trim_matches('`').to_string(),
            times,
        }
    });
    let mut bars: Vec<Bar> = bars
        .filter(|bar| !bar.runner.contains("plain build"))
        .collect();
    assert_eq!(bars.len(), 6);
    bars.sort_by(|one, other| one.times.total_cmp(&other.times));
    keep("docs/speed.svg", &plot(&bars));
}

fn plot(bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.times).fold(1.0, f64::max);
    let height = 40.0 + 28.0 * bars.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 {height}\" role=\"img\" \
         aria-label=\"Time for one do-nothing hook, as a multiple of hookrun\">\n\
         <style>\n\
         text {{ font: 14px system-ui, sans-serif; fill: #57606a }}\n\
         rect {{ fill: #8c959f }}\n\
         .own {{ fill: #1f883d }}\n\
         @media (prefers-color-scheme: dark) {{ text {{ fill: #c9d1d9 }} rect {{ fill: #6e7681 }} .own {{ fill: #3fb950 }} }}\n\
         </style>\n\
         <text x=\"0\" y=\"16\">One do-nothing hook: time as a multiple of hookrun (shorter is better)</text>\n"
    );
    for (row, Bar { runner, times }) in bars.iter().enumerate() {
        let y = 32.0 + 28.0 * row as f64;
        let class = if runner.starts_with("hookrun") {
            " class=\"own\""
        } else {
            ""
        };
        let width = times / most * 380.0;
        writeln!(
            svg,
            "<text x=\"0\" y=\"{}\">{}</text><rect{class} x=\"150\" y=\"{y}\" width=\"{width:.0}\" height=\"20\"/>\
             <text x=\"{:.0}\" y=\"{}\">{times}</text>",
            y + 15.0,
            escaped(runner),
            width + 158.0,
            y + 15.0
        )
        .unwrap();
    }
    svg + "</svg>\n"
}

/// Compares a picture with what it should be; what only took another time stays.
fn keep(picture: &str, made: &str) {
    let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(picture));
    let kept = kept.unwrap_or_default();
    if timeless(&kept) != timeless(made) {
        settle(picture, &kept, made);
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
