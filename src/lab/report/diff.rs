//! What differs between two texts, line by line.

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffOp, group_diff_ops};

/// How many lines are shown around a change in a unified diff.
const AROUND: usize = 3;

/// Two texts, and how one becomes the other.
#[derive(Debug)]
pub struct LineDiff<'t> {
    old: Vec<&'t str>,
    new: Vec<&'t str>,
    ops: Vec<DiffOp>,
}

/// A line that is in one of the texts, or in both. It has its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLine<'t> {
    pub tag: ChangeTag,
    pub text: &'t str,
}

impl<'t> LineDiff<'t> {
    pub fn of(old: &'t str, new: &'t str) -> LineDiff<'t> {
        let [old, new]: [Vec<&str>; 2] =
            [old, new].map(|text| text.split_inclusive('\n').collect());
        // One algorithm for one type: the library's own types for texts contain all of them.
        let mut hook = Compact::new(Replace::new(Capture::new()), &old[..], &new[..]);
        let Ok(()) = myers::diff(&mut hook, &old[..], 0..old.len(), &new[..], 0..new.len());
        let ops = hook.into_inner().into_inner().into_ops();
        LineDiff { old, new, ops }
    }

    /// What has changed, with so many lines around each change.
    pub fn hunks(&self, around: usize) -> Vec<Vec<DiffLine<'t>>> {
        let hunks = group_diff_ops(self.ops.clone(), around);
        hunks
            .iter()
            .map(|ops| ops.iter().flat_map(|op| self.lines(op)).collect())
            .collect()
    }

    fn lines(&self, op: &DiffOp) -> Vec<DiffLine<'t>> {
        let changes = op.iter_changes(&self.old[..], &self.new[..]);
        changes
            .map(|change| DiffLine {
                tag: change.tag(),
                text: change.value(),
            })
            .collect()
    }

    /// As `diff -u` shows it, without the names of the files.
    pub fn unified(&self) -> String {
        let mut text = String::new();
        for ops in group_diff_ops(self.ops.clone(), AROUND) {
            let [Some(first), Some(last)] = [ops.first(), ops.last()] else {
                continue;
            };
            let old = range(first.old_range().start, last.old_range().end);
            let new = range(first.new_range().start, last.new_range().end);
            text.push_str(&format!("@@ -{old} +{new} @@\n"));
            for line in ops.iter().flat_map(|op| self.lines(op)) {
                text.push_str(&format!("{}{}", line.tag, line.text));
                if !line.text.ends_with('\n') {
                    text.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
        text
    }
}

/// The first line, from 1, and how many there are. No line is after the one before.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        length => format!("{},{length}", start + 1),
    }
}
