//! What the page shows, counted in little memory.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

/// Counts of decisions: allowed, asked, blocked, and those with a failure.
pub(super) type ClassCounts = [u64; 4];

const MINUTE_US: u64 = 60_000_000;

/// How many bars the chart over time has at most.
const MOST_BARS: u64 = 96;

/// The widths of a bar, in minutes: from one minute to thirty days. What is longer takes more bars.
const WIDTHS: &[u64] = &[1, 5, 15, 60, 180, 720, 1440, 7 * 1440, 30 * 1440];

/// Decisions by minute.
#[derive(Debug, Default)]
pub(super) struct Buckets(BTreeMap<u64, ClassCounts>);

impl Buckets {
    pub(super) fn add(&mut self, time_us: u64, class: usize) {
        self.0.entry(time_us / MINUTE_US).or_default()[class] += 1;
    }

    /// The bars of the chart, empty ones too.
    pub(super) fn shown(&self) -> Value {
        let (Some((first, _)), Some((last, _))) =
            (self.0.first_key_value(), self.0.last_key_value())
        else {
            return json!({ "start": 0, "width": 0, "bars": [] });
        };
        let fits = |width: &&u64| last / **width - first / **width < MOST_BARS;
        let width = *WIDTHS
            .iter()
            .find(fits)
            .unwrap_or(&WIDTHS[WIDTHS.len() - 1]);
        let start = first / width;
        let count = usize::try_from(last / width - start + 1).unwrap_or_default();
        let mut bars: Vec<ClassCounts> = vec![[0; 4]; count];
        for (minute, counts) in &self.0 {
            let at = usize::try_from(minute / width - start).unwrap_or_default();
            bars[at]
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
        }
        let ms = MINUTE_US / 1000 * width;
        json!({ "start": start * ms, "width": ms, "bars": bars })
    }
}

/// How many different blocks or failures are kept. Further ones are counted together.
const MOST_GROUPS: usize = 500;

/// What happened again and again: by hook and words.
#[derive(Debug, Default)]
pub(super) struct Groups {
    all: HashMap<[String; 2], OneGroup>,
    others: u64,
}

#[derive(Debug)]
struct OneGroup {
    count: u64,
    last: String,
    subject: String,
}

impl Groups {
    pub(super) fn add(&mut self, key: [&str; 2], time: &str, subject: &str) {
        let key = key.map(str::to_string);
        if self.all.len() >= MOST_GROUPS && !self.all.contains_key(&key) {
            self.others += 1;
            return;
        }
        let new = || OneGroup {
            count: 0,
            last: String::new(),
            subject: String::new(),
        };
        let group = self.all.entry(key).or_insert_with(new);
        group.count += 1;
        group.last = time.to_string();
        group.subject = subject.to_string();
    }

    /// The most frequent first.
    pub(super) fn shown(&self) -> Value {
        let mut all: Vec<(&[String; 2], &OneGroup)> = self.all.iter().collect();
        all.sort_by(|(key, one), (other_key, other)| {
            other.count.cmp(&one.count).then_with(|| key.cmp(other_key))
        });
        let shown = |([hook, words], group): (&[String; 2], &OneGroup)| {
            json!({
                "hook": hook, "words": words, "count": group.count, "last": group.last,
                "about": group.subject,
            })
        };
        let all: Vec<Value> = all.into_iter().map(shown).collect();
        json!({ "all": all, "others": self.others })
    }
}

/// Names that appear often, each kept once.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    places: HashMap<String, usize>,
    names: Vec<String>,
}

impl NameIndex {
    pub(super) fn of(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len();
        self.places.insert(name.to_string(), place);
        self.names.push(name.to_string());
        place
    }

    pub(super) fn all(&self) -> &[String] {
        &self.names
    }
}
