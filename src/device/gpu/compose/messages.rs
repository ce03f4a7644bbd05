//! Functions of `collect`, `ship` and `apply` over the attributes of messages, generated from their declaration.

use super::{Declared, KernelName, ModuleOptions};
use crate::device::exchange::message::MessageLayout;
use crate::model::attributes::{Attribute, AttributeType, Merge};

/// The reason why an algorithm has no messages, if it has none.
pub(super) fn refused(algorithm: &Declared) -> Option<&'static str> {
    let is_sum = |one: &Attribute| {
        one.of.is_wide() && one.role.is_written() && (one.of != AttributeType::U64 || one.merge == Merge::Add)
    };
    match algorithm.traversal {
        false => Some("only traversals send messages"),
        true if algorithm.attributes.iter().any(is_sum) => {
            Some("edges add to 64-bit numbers, which messages do not support")
        }
        true => None,
    }
}

/// The numbers of bit attributes and of other attributes in messages.
pub(super) fn counts(algorithm: &Declared, kernel: KernelName, options: &ModuleOptions) -> (u32, u32) {
    if !kernel.is_of_messages() || refused(algorithm).is_some() {
        return (0, 0);
    }
    let layout = MessageLayout::new(&algorithm.attributes, options.sharded);
    (layout.bits.len() as u32, layout.values.len() as u32)
}

/// Functions over all attributes of a message.
pub(super) fn text(algorithm: &Declared, kernel: KernelName, options: &ModuleOptions) -> String {
    if !kernel.is_of_messages() || refused(algorithm).is_some() {
        return String::new();
    }
    let layout = MessageLayout::new(&algorithm.attributes, options.sharded);
    let attribute = |&place: &usize| &algorithm.attributes[place];
    let sets: Vec<_> = layout.bits.iter().map(attribute).collect();
    let values: Vec<_> = layout.words().map(|(place, below, _)| (&algorithm.attributes[place], below)).collect();
    match kernel {
        KernelName::Collect => flags_of(&sets) + &collect_values(&values),
        KernelName::Ship => ship_sets(&sets),
        _ => {
            let followers: Vec<_> = layout.followers.iter().map(attribute).collect();
            [
                sets_learn(&sets, options.sharded),
                sets_join(&sets, options.sharded),
                learn(&values, options.sharded),
                follow(&followers, options.sharded),
            ]
            .concat()
        }
    }
}

/// A function with a line for each attribute, or for each word of a value.
fn function<T: Copy>(head: &str, all: &[T], line: impl Fn(usize, T) -> String) -> String {
    let lines: String = all.iter().enumerate().map(|(which, &one)| format!("    {}\n", line(which, one))).collect();
    format!("fn {head} {{\n{lines}}}\n")
}

fn flags_of(sets: &[&Attribute]) -> String {
    let flag = |(which, set): (usize, &&Attribute)| format!("(u32({}_test(vertex)) << {which}u)", set.name);
    let flags: Vec<_> = sets.iter().enumerate().map(flag).collect();
    let flags = if flags.is_empty() { "0u".into() } else { flags.join(" | ") };
    format!("// A bit for each set that has a vertex.\nfn flags_of(vertex: u32) -> u32 {{\n    return {flags};\n}}\n")
}

/// A word of a value, and the number of bits below it.
type Word<'a> = (&'a Attribute, u32);

fn collect_values(values: &[Word<'_>]) -> String {
    function("collect_values(vertex: u32, number: u32)", values, |which, (one, below)| {
        let value = format!("{}_load(vertex)", one.name);
        let word = match (one.of, below) {
            (AttributeType::F32, _) => format!("bitcast<u32>({value})"),
            (AttributeType::U64, 0) => format!("{value}.x"),
            (AttributeType::U64, _) => format!("{value}.y"),
            _ => value,
        };
        format!("collected.words[collected_values({which}u) + number] = {word};")
    })
}

fn ship_sets(sets: &[&Attribute]) -> String {
    function("ship_sets(word: u32, to: u32)", sets, |which, set| {
        format!("sent[to + {which}u * message_words()] = {}_word(word);", set.name)
    })
}

/// The column for received values: the attribute's own, or `NAME_seen` if sharded.
fn told(one: &Attribute, sharded: bool) -> String {
    if sharded { format!("{}_seen", one.name) } else { one.name.into() }
}

fn sets_learn(sets: &[&Attribute], sharded: bool) -> String {
    function("sets_learn(vertex: u32, flags: u32)", sets, |which, set| {
        format!("if ((flags >> {which}u) & 1u) != 0u {{ {}_insert(vertex); }}", told(set, sharded))
    })
}

fn sets_join(sets: &[&Attribute], sharded: bool) -> String {
    function("sets_join(word: u32, place: u32)", sets, |which, set| {
        format!("{}_join(word, received[place + {which}u * message_words()]);", told(set, sharded))
    })
}

/// Sets that follow activations, for a vertex and for a word.
fn follow(followers: &[&Attribute], sharded: bool) -> String {
    let of_vertex = |_, set: &Attribute| format!("{}_insert(vertex);", told(set, sharded));
    let of_word = |_, set: &Attribute| format!("{}_join(word, bits);", told(set, sharded));
    function("followers_insert(vertex: u32)", followers, of_vertex)
        + &function("followers_join(word: u32, bits: u32)", followers, of_word)
}

/// A value from its first word on; nothing for another word.
fn learn(values: &[Word<'_>], sharded: bool) -> String {
    let firsts: Vec<_> = values.iter().enumerate().filter(|(_, (_, below))| *below == 0).collect();
    function("value_learn(which: u32, vertex: u32, at: u32, stride: u32)", &firsts, |_, (which, (one, _))| {
        let name = told(one, sharded);
        let call = match (sharded, one.of) {
            (true, AttributeType::F32) => format!("{name}_store(vertex, bitcast<f32>(received[at]))"),
            (true, AttributeType::U64) => format!("{name}_store(vertex, U64(received[at], received[at + stride]))"),
            (false, AttributeType::U64) => format!("{name}_learn(vertex, U64(received[at], received[at + stride]))"),
            (true, _) => format!("{name}_store(vertex, received[at])"),
            (false, _) => format!("{name}_learn(vertex, received[at])"),
        };
        format!("if which == {which}u {{ {call}; }}")
    })
}
