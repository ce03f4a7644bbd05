// The set bits of a workgroup's words, numbered consecutively: adjacent threads take adjacent bits, so that their data
// is read and written in whole cache lines.

// The words, one a thread.
var<workgroup> ranked_words: array<u32, WORKGROUP>;
// The number of set bits up to each of them, itself included.
var<workgroup> ranks: array<u32, WORKGROUP>;

// Numbers the set bits of all threads' words; returns their number. In uniform control flow, with a barrier before the
// next call.
fn rank_words(lane: u32, bits: u32) -> u32 {
    ranked_words[lane] = bits;
    var sum = countOneBits(bits);
    ranks[lane] = sum;
    // rounds: 8.
    for (var distance = 1u; distance < WORKGROUP; distance *= 2u) {
        workgroupBarrier();
        if lane >= distance {
            sum += ranks[lane - distance];
        }
        workgroupBarrier();
        ranks[lane] = sum;
    }
    workgroupBarrier();
    return ranks[WORKGROUP - 1u];
}

// The position of the bit with a number, counted from the first bit of the first word.
fn ranked(number: u32) -> u32 {
    // The first word with more set bits up to it than the number.
    var low = 0u;
    // rounds: 8.
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if ranks[low + half - 1u] <= number {
            low += half;
        }
    }
    let bits = ranked_words[low];
    return low * 32u + bit_of_number(bits, number - (ranks[low] - countOneBits(bits)));
}

// The position in a word of the bit with a number.
fn bit_of_number(word: u32, number: u32) -> u32 {
    var bits = word;
    var left = number;
    var at = 0u;
    // rounds: 5.
    for (var half = 16u; half > 0u; half /= 2u) {
        let count = countOneBits(bits & ((1u << half) - 1u));
        if left >= count {
            left -= count;
            at += half;
            bits >>= half;
        }
    }
    return at;
}
