// Loops that a driver ends early. Mesa's llvmpipe counts all rounds that a thread goes through, in all loops together,
// and at 65,535 of them ends every loop after its first round, without a word. On such a device (LOOPS_LIMITED) kernels
// that call an algorithm's hooks find out: a loop of known length is cut short where any before it was.

// Notes whether a loop of this thread was cut short. At the end of a kernel.
fn check_loops() {
    // Read from memory, so that no compiler knows it.
    let wanted = 2u + min(atomicLoad(&counters.loops_cut), 1u);
    var done = 0u;
    // rounds: 2 or 3.
    for (var round = 0u; round < wanted; round += 1u) {
        done += 1u;
    }
    if done != wanted {
        atomicMax(&counters.loops_cut, 1u);
    }
}
