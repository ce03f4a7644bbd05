//! Generated declarations other than accessors: constants, and the test for visited vertices.

use super::layout::{HUB_EDGES, LARGE_CHUNK, SLOTS_CACHED, WORKGROUP, edges_per_thread, edges_per_unit};
use super::{Declared, KernelName, ModuleOptions, layout, messages};
use crate::model::algorithm::Visit;
use crate::model::numbers::{MURMUR_FACTORS, TOO_FAR};
use std::collections::HashMap;
use topostream_formats::packed::PackedParameters;
use topostream_formats::{Direction, Encoding};

/// The file name of generated text in messages.
pub(super) const FILE: &str = "(generated)";

/// The default of `list_gather`: the neighbour itself.
pub(super) const LIST_GATHER: &str = "fn list_gather(neighbour: u32) -> u32 {\n    return neighbour;\n}\n";

/// Constants that control static `if`s.
pub(super) fn switches(algorithm: &Declared, kernel: KernelName, options: &ModuleOptions) -> HashMap<String, bool> {
    let (width, pull) = (options.encoding.width_bytes(), options.direction == Direction::In);
    let unpacks = options.unpacks && kernel == KernelName::Segments;
    let (aligned, visit_all) = (width == 4 && !unpacks, options.visit == Visit::All);
    let staged = pull || !aligned || options.in_place;
    let own = [
        ("PULL", pull),
        ("WEIGHTS", options.weights),
        ("GROUPED", options.grouped),
        ("VISIT_ALL", visit_all),
        ("SUBGROUPS", options.subgroups),
        // Whether threads that share a list join their records before one of them closes it.
        ("JOINED", pull && options.subgroups && algorithm.declares(&["list_join", "list_shuffle"])),
        // Whether to check for loops that the driver has ended early.
        ("LOOPS_LIMITED", options.loops_limited && kernel.has_hooks()),
        ("RECORD_IDS", options.encoding.plain() != Encoding::VertexId),
        // Whether a neighbour is one word. Otherwise it may span two words or, if it has 7 bytes, three.
        ("ALIGNED", aligned),
        ("THREE_WORDS", width == 7),
        // In packed pages, whether the first neighbour of a list is relative to its vertex.
        ("GAPS_OWN", PackedParameters::of(options.encoding).is_some_and(|parameters| parameters.own)),
        // Whether `segments` decodes packed neighbours.
        ("UNPACKS", unpacks),
        // Whether `segments` loads neighbours to workgroup memory.
        ("STAGED", staged),
        // Whether it skips lines of memory without visited lists.
        ("BY_LINE", staged && aligned && !visit_all),
        // Whether attributes that edges write are held for own vertices only.
        ("SHARDED", options.sharded),
        // Whether the vertices of pages are deferred.
        ("DEFER", kernel == KernelName::Defer),
        // Whether `census` records levels, and whether it clears the old frontier and adds up its counts, for `decide`.
        ("LEVELS", kernel == KernelName::Census && options.levels > 0),
        // Whether there is a table with the page of each unit.
        ("TABLED", options.tabled && kernel.has_units()),
        ("CLEARS", kernel == KernelName::Census && options.clears),
        // Whether it may read lists of active vertices instead of the whole frontier.
        ("LISTS", kernel == KernelName::Census && options.clears && !options.sharded),
        // Whether supersteps may be over the listed vertices of a set, and list those that edges touch.
        ("SETS", lists_sets(algorithm, kernel, options)),
        // Whether a superstep ends with the census of a frontier, and not with a vertex phase.
        ("TRAVERSAL", algorithm.traversal),
        // Whether a kernel finds the most frequent value of lists.
        ("PLURALITY", algorithm.plurality.is_some()),
        // Whether messages have sets.
        ("MESSAGE_FLAGS", messages::counts(algorithm, kernel, options).0 > 0),
    ];
    own.iter().chain(&algorithm.shader.switches).map(|&(name, value)| (name.to_owned(), value)).collect()
}

/// Whether a kernel may find a set's vertices, and the vertices that edges touch, in lists.
fn lists_sets(algorithm: &Declared, kernel: KernelName, options: &ModuleOptions) -> bool {
    let may = match kernel {
        KernelName::VertexPhase => options.lists,
        KernelName::Decide => true,
        _ => kernel.touches(),
    };
    may && algorithm.set.is_some() && !options.sharded
}

/// WGSL expressions: whether a vertex's list is read; a word with a bit for each of 32 vertices whose list is read; the
/// same for the next superstep.
fn visited(algorithm: &Declared, options: &ModuleOptions) -> [String; 3] {
    let all = "0xffffffffu";
    match options.visit {
        Visit::All => ["true".into(), all.into(), all.into()],
        Visit::None => ["false".into(), "0u".into(), "0u".into()],
        Visit::Frontier => {
            ["is_active(vertex)".into(), "frontier_word(word)".into(), "next_frontier_word(word)".into()]
        }
        // Sets of other devices' vertices arrive after the search for pages, so each device searches for the pages of
        // its own vertices.
        Visit::Within(place) => {
            let name = algorithm.attributes[place].name;
            let word = format!("own_bits(word) & {name}_word(word)");
            [format!("{name}_test(vertex)"), word.clone(), word]
        }
        Visit::Without(place) => {
            let name = algorithm.attributes[place].name;
            let own = if options.sharded { ("is_own(vertex) && ", "own_bits(word) & ") } else { ("", "") };
            let word = format!("{}~{name}_word(word)", own.1);
            [format!("{}!{name}_test(vertex)", own.0), word.clone(), word]
        }
    }
}

/// Constants that shaders and the host share.
fn numbers(algorithm: &Declared, kernel: KernelName, options: &ModuleOptions) -> Vec<(&'static str, u32)> {
    let mask = |bytes: u8| if bytes >= 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 };
    let (page_bytes, slot_bytes) = match options.encoding.plain() {
        Encoding::VertexId | Encoding::Packed { .. } => (4, 4),
        Encoding::RecordId { page_bytes, slot_bytes } => (page_bytes, slot_bytes),
    };
    let (sets, values) = messages::counts(algorithm, kernel, options);
    let parameters = PackedParameters::of(options.encoding);
    vec![
        ("WORKGROUP", WORKGROUP),
        ("HUB_EDGES", HUB_EDGES),
        ("LARGE_CHUNK", LARGE_CHUNK),
        ("PAGE_LANES", layout::page_lanes(options.plain_bytes())),
        ("SHORT_EDGES", layout::SHORT_EDGES),
        ("SHORT_LANES", layout::SHORT_LANES),
        ("MIDDLE_EDGES", layout::MIDDLE_EDGES),
        ("ALONE_EDGES", layout::ALONE_EDGES),
        ("QUEUES_MAX", layout::QUEUES_MAX as u32),
        ("EMPTY_WORDS", options.vertices.div_ceil(32) as u32),
        ("BINS", layout::BINS as u32),
        ("BIN_ALONE", layout::BIN_ALONE),
        ("BIN_FEW", layout::BIN_FEW),
        ("PLURALITY_MAX", algorithm.plurality.unwrap_or(0)),
        ("EDGE_COUNTS", layout::EDGE_COUNTS as u32),
        ("EDGE_COUNT_BITS", layout::EDGE_COUNT_BITS),
        ("EVERY_VISIT", layout::EVERY_VISIT),
        ("WHEN_WALKED", layout::WHEN_WALKED),
        ("WHEN_EITHER", layout::WHEN_EITHER),
        ("WHEN_QUEUED_SCALED", layout::WHEN_QUEUED_SCALED),
        ("WHEN_LISTED_SCALED", layout::WHEN_LISTED_SCALED),
        ("WHEN_LISTED_END", layout::WHEN_LISTED_END),
        ("WHEN_EITHER_SCALED", layout::WHEN_EITHER_SCALED),
        ("MODE_WALKED", layout::MODE_WALKED),
        ("MODE_QUEUED", layout::MODE_QUEUED),
        ("MODE_LISTED", layout::MODE_LISTED),
        ("LISTED_EDGES_MAX", layout::LISTED_EDGES_MAX),
        ("LISTED_MAX", layout::LISTED_MAX),
        ("TOUCHED_MAX", layout::TOUCHED_MAX),
        ("SET_EDGES_MAX", layout::SET_EDGES_MAX),
        ("PAGES_BEGIN", layout::lists_words(algorithm.traversal)),
        ("MARKS_A_WORD", layout::MARKS_A_WORD),
        ("UPDATES_ALL", layout::UPDATES_ALL),
        ("UPDATES_TOUCHED", layout::UPDATES_TOUCHED),
        ("UPDATES_NONE", layout::UPDATES_NONE),
        ("LOG_STEPS", layout::LOG_STEPS as u32),
        ("SLOTS_CACHED", SLOTS_CACHED),
        ("EDGES_PER_THREAD", edges_per_thread(options.weights)),
        ("EDGES_PER_UNIT", edges_per_unit(options.weights)),
        ("PAGE_WORDS", options.plain_bytes() / 4),
        ("PACKED_WORDS", options.page_bytes / 4),
        ("GAP_STEP", parameters.is_some_and(|parameters| parameters.step).into()),
        ("WIDTH", options.encoding.width_bytes() as u32),
        ("PAGE_ID_MASK", mask(page_bytes)),
        ("SLOT_SHIFT", 8 * u32::from(page_bytes)),
        ("SLOT_MASK", mask(slot_bytes)),
        ("MESSAGE_SETS", sets),
        ("MESSAGE_VALUES", values),
        ("TOO_FAR", TOO_FAR),
        ("MURMUR_0", MURMUR_FACTORS[0]),
        ("MURMUR_1", MURMUR_FACTORS[1]),
        ("MERGE_ADD", layout::MERGE_ADD),
        ("MERGE_MIN", layout::MERGE_MIN),
        ("MERGE_MAX", layout::MERGE_MAX),
        ("MERGE_OR", layout::MERGE_OR),
        ("MERGE_REPLACE", layout::MERGE_REPLACE),
        ("WORDS_F32", layout::WORDS_F32),
        ("WORDS_WIDE", layout::WORDS_WIDE),
        ("WORDS_BIT", layout::WORDS_BIT),
    ]
}

/// Constants and functions.
pub(super) fn text(
    algorithm: &Declared,
    kernel: KernelName,
    options: &ModuleOptions,
    switches: &HashMap<String, bool>,
) -> String {
    let numbers = numbers(algorithm, kernel, options);
    let mut text: String = numbers.iter().map(|(name, value)| format!("const {name} = {value}u;\n")).collect();
    let mut switches: Vec<_> = switches.iter().collect();
    switches.sort();
    text.extend(switches.iter().map(|(name, value)| format!("const {name} = {value};\n")));
    text.extend(algorithm.shader.constants.iter().map(|(name, value)| format!("const {name} = {value};\n")));
    let [vertex, now, next] = visited(algorithm, options);
    text +=
        &format!("// Whether a vertex's list is read.\nfn visits(vertex: u32) -> bool {{\n    return {vertex};\n}}\n");
    text += "// A bit for each of 32 vertices whose list is read.\n";
    text += &format!("fn lists_read(word: u32) -> u32 {{\n    return {now};\n}}\n");
    text += "// A bit for each of 32 vertices whose list the next superstep reads.\n";
    text += &format!("fn visit_word(word: u32) -> u32 {{\n    return {next};\n}}\n");
    if let Some(set) = algorithm.set {
        let name = algorithm.attributes[set].name;
        text += "// Whether a vertex is in the set that supersteps visit.\n";
        text += &format!("fn is_in_set(vertex: u32) -> bool {{\n    return {name}_test(vertex);\n}}\n");
    }
    text += "// Defers those of 32 vertices whose bits are set to later supersteps, if they are active; returns their bits.\n";
    text += "fn defer_vertices(word: u32, bits: u32) -> u32 {\n    let deferred = frontier_word(word) & bits;\n";
    text += "    next_frontier_join(word, deferred);\n    return deferred;\n}\n";
    if kernel == KernelName::Decide {
        text += &algorithm.rule.wgsl();
    }
    text + &messages::text(algorithm, kernel, options)
}
