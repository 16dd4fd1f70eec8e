//! The names that the variants of an enum have in files, on the command line and in output.

/// Gives an enum `NAMES`, every variant with its name in the order of lists, and `name()`.
macro_rules! names {
    ($kind:ident: $($variant:ident $name:literal),+ $(,)?) => {
        impl $kind {
            /// Every variant with its name.
            pub const NAMES: &[($kind, &str)] = &[$(($kind::$variant, $name)),+];

            /// The name in files, on the command line and in output.
            pub fn name(self) -> &'static str {
                match self {
                    $($kind::$variant => $name),+
                }
            }
        }
    };
}

pub(crate) use names;

/// A list of words that is read as one: several on a line, which rustfmt would not leave so.
macro_rules! words {
    ($($word:literal)+) => {
        &[$($word),+]
    };
}

pub(crate) use words;
