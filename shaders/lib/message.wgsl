// Messages: the vertices of a range that the superstep has activated, and their values (src/device/exchange/message.rs
// has the layout). A workgroup's share is a block: the vertices of one word for each of its threads.

const MESSAGE_HEADER = 4u;
const MESSAGE_SPARSE = 0u;
const MESSAGE_DENSE = 1u;
const BLOCK_VERTICES = 32u * WORKGROUP;

fn message_words() -> u32 {
    return (message.last - message.first) / 32u + 1u;
}

fn message_blocks() -> u32 {
    return (message.last - message.first) / BLOCK_VERTICES + 1u;
}

// Offsets of the parts of a message in exchange memory: sparse, the vertices, then flags; dense, the active bits, then
// the words of sets, then bases.
struct Places {
    vertices: u32,
    sets: u32,
    bases: u32,
    values: u32,
}

fn places_of(sparse: bool, count: u32) -> Places {
    let vertices = message.begin + MESSAGE_HEADER;
    if sparse {
        let sets = vertices + count;
        let values = sets + min(MESSAGE_SETS, 1u) * count;
        return Places(vertices, sets, values, values);
    }
    let sets = vertices + message_words();
    let bases = sets + MESSAGE_SETS * message_words();
    return Places(vertices, sets, bases, bases + message_blocks());
}

// The offset of the vertices that `collect` writes for a sparse message.
fn collected_vertices() -> u32 {
    return message_blocks();
}

fn collected_flags() -> u32 {
    return collected_vertices() + message.sparse_max;
}

// The offset of the values that it writes, for the `which`-th attribute with values.
fn collected_values(which: u32) -> u32 {
    let listed = collected_flags() + min(MESSAGE_SETS, 1u) * message.sparse_max;
    return listed + which * (message.last - message.first + 1u);
}

// The vertices of a word that the message covers and the superstep has activated here.
fn activated(word: u32) -> u32 {
    var bits = bits_between(word, message.first, message.last);
    if SHARDED {
        bits &= own_bits(word);
    }
    if bits == 0u {
        return 0u;
    }
    return bits & next_frontier_word(word);
}
