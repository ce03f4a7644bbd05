// Loops that a driver ends early. Mesa's llvmpipe counts the rounds of a thread in all loops together, and after 65,535
// of them silently ends every loop after its first round. On such a device (LOOPS_LIMITED) kernels that call an
// algorithm's hooks detect this: a loop of known length is cut short if any loop before it was.

// Records whether a loop of this thread was cut short. At the end of a kernel.
fn check_loops() {
    // Read from memory, so that the compiler cannot know it.
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
