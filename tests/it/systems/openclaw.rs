//! openclaw: each rule of its "Hooks Mechanism" document, and of its source where that says more.
