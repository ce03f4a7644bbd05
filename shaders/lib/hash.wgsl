// The finalizer of MurmurHash3 (src/model/numbers.rs): a permutation of the 32-bit numbers, in which each bit depends
// on all bits.
fn mixed(number: u32) -> u32 {
    var x = number;
    x = (x ^ (x >> 16u)) * MURMUR_0;
    x = (x ^ (x >> 13u)) * MURMUR_1;
    return x ^ (x >> 16u);
}
