// The length of the whole list; 2^32 - 1 if it is longer. Modules that do not call it look up no degrees.
fn list_degree(list: List) -> u32 {
    if GROUPED {
        return degree_out(list.vertex);
    } else {
        return list.length;
    }
}
