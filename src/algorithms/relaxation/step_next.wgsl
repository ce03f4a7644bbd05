
// A traversal continues as long as values improve.
fn step_next(now: Step, visit: u32, found: Found) -> Next {
    return next_while_active(now, found, visit);
}
