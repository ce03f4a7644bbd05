fn after(vertex: u32) {}
