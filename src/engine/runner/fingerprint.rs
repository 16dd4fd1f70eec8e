//! What decides how a hook decides, as a text that two runs can compare.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::engine::event::{Event, OnFailure};
use crate::engine::hook::{Handler, Hook};
use crate::engine::plan::{PlannedHook, Selection};

/// Adds to `text` everything that affects a hook's decision. `None` for a function, which another
/// process does not have.
pub(super) fn describe(text: &mut String, planned: &PlannedHook, event: &Event) -> Option<()> {
    // Every field is named here, so that a new one is not forgotten.
    let Hook {
        name,
        event: _,
        source,
        handler,
        matcher,
        priority: _,
        parallel,
        on_failure: _,
        limits,
        sandbox,
        containment,
        background,
        lives: _,
        #[cfg(feature = "warm")]
            warm: _,
        variables,
        folder,
        root,
        rewrite,
        convention: _,
        enabled: _,
        idle: _,
        reads_stdin: _,
        description: _,
    } = planned.hook.as_ref();
    let spec = event.spec();
    let is_wanted = planned.selection == Selection::Wanted;
    let closes = planned.hook.on_failure(spec) == OnFailure::Block;
    let dialect = planned.hook.convention_names();
    let timeout = planned.hook.timeout(spec);
    let _ = write!(
        text,
        "{is_wanted} {name:?} {source:?} {matcher} {dialect:?} {timeout:?} "
    );
    let _ = write!(
        text,
        "{closes} {parallel} {limits:?} {containment:?} {sandbox:?} "
    );
    let _ = write!(text, "{background:?} {variables:?} {folder:?} {root:?} ");
    if *rewrite {
        let _ = write!(text, "{:?} ", spec.rewrites);
    }
    match handler {
        Handler::Function(_) => return None,
        Handler::File(file) => version(text, file),
        Handler::Shell(line) => {
            let _ = write!(text, "sh {line:?} ");
        }
        Handler::Words { words, base } => {
            let _ = write!(text, "{words:?} {base:?} ");
            // Its program may be a script, and so may the words after it.
            for file in words
                .iter()
                .map(|word| base.join(word))
                .filter(|file| file.is_file())
            {
                version(text, &file);
            }
        }
        Handler::Rule(decision) => {
            let _ = write!(text, "{decision:?} ");
        }
        Handler::Elsewhere { problem, cure: _ } => {
            let _ = write!(text, "{problem:?} ");
        }
    }
    version(text, &source.file);
    text.push('\n');
    Some(())
}

/// Adds the identity of the file at a path, and when its content last changed.
fn version(text: &mut String, file: &Path) {
    let _ = match file.metadata() {
        Ok(meta) => write!(
            text,
            "{file:?} {} {} {} {} {} {} ",
            meta.dev(),
            meta.ino(),
            meta.size(),
            meta.mode(),
            meta.ctime(),
            meta.ctime_nsec()
        ),
        Err(_) => write!(text, "{file:?} "),
    };
}

/// A digest, for text that must not be stored because it may contain secrets.
pub(crate) fn digest(text: &str) -> String {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, text).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}
