//! The table of words that block and ask.

use hookrun::internals::answer::refusal::WrittenValue::{Bare, Cut, Many, Number, Text, Zero};
use hookrun::internals::answer::refusal::{
    DENIALS, Meaning, REFUSAL_WORDS, RefusesBy, STOPS, meaning,
};

#[test]
fn every_key_stands_once_and_refuses_by_its_own_values_only() {
    for row in REFUSAL_WORDS {
        assert_eq!(
            REFUSAL_WORDS
                .iter()
                .filter(|other| other.key == row.key)
                .count(),
            1
        );
        let (plain, slips, passes) = match row.by {
            RefusesBy::False => (
                vec![Bare("false"), Zero],
                vec![Text("false"), Bare("False"), Cut("")],
                vec![Bare("true"), Number, Many(Some("false"))],
            ),
            RefusesBy::True => (
                vec![Bare("true"), Number, Many(None)],
                vec![Bare("True"), Cut("no pu")],
                vec![Bare("false"), Text(""), Zero],
            ),
            RefusesBy::Word => (
                DENIALS.iter().chain(STOPS).map(|word| Text(word)).collect(),
                vec![Bare("deny"), Cut("de"), Text("no")],
                vec![Text("allow"), Zero, Many(None)],
            ),
            RefusesBy::State => (
                DENIALS.iter().map(|word| Many(Some(word))).collect(),
                vec![Bare("deny"), Text("false")],
                vec![Text("ok"), Zero, Text("stop")],
            ),
            RefusesBy::Question => (
                Vec::new(),
                vec![Bare("true")],
                vec![Text(" "), Bare("x"), Many(Some("x"))],
            ),
        };
        for (values, wanted) in [
            (plain, Meaning::Refusal),
            (slips, Meaning::Slip),
            (passes, Meaning::Nothing),
        ] {
            for value in values {
                assert_eq!(meaning(row.key, value), wanted, "{}: {value:?}", row.key);
            }
        }
        let capitals = row.key.to_uppercase();
        let denied = match row.by {
            RefusesBy::False => Bare("false"),
            RefusesBy::True => Bare("true"),
            RefusesBy::Word | RefusesBy::State | RefusesBy::Question => Text("deny"),
        };
        assert_eq!(meaning(&capitals, denied), Meaning::Slip, "{capitals}");
    }
    assert_eq!(meaning("contine", Bare("false")), Meaning::Slip);
    assert_eq!(meaning("level", Text("block")), Meaning::Nothing);
    assert_eq!(meaning("confine", Zero), Meaning::Nothing);
    assert_eq!(meaning("decision", Text("Ask")), Meaning::Question);
    assert_eq!(meaning("ask", Text("really?")), Meaning::Question);
}
