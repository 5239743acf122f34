package arrowio

// CheckMessage checks the metadata of an IPC message before the Arrow library reads it, and returns
// the length of the body that follows. The library allocates a schema's fields and metadata by the
// numbers that a message claims.
func CheckMessage(metadata []byte) (body int64, err error) {
	f := frame{metadata: metadata, fb: &flatbuffer{buf: metadata}}
	if body, err = f.open(); err != nil {
		return 0, err
	}
	if body < 0 {
		return 0, corrupt("body length %d", body)
	}
	if f.kind != headerSchema {
		return body, nil
	}
	entries := len(metadata) / 4 // an entry of a list takes at least its offset
	f.header.count(2, 4)
	if err := checkFields(f.header, 1, 0, &entries); err != nil {
		return 0, err
	}
	return body, f.fb.err
}

// checkFields checks the fields in a slot of a table, and their children. entries is how many lists
// may still hold: tables can share lists, so that a short message describes any number of fields.
func checkFields(t table, slot, depth int, entries *int) error {
	n := t.count(slot, 4)
	if *entries -= n; *entries < 0 {
		return corrupt("a schema of more fields than its bytes hold")
	}
	if n > 0 && depth > maxDepth {
		return unsupported("columns nested deeper than %d", maxDepth)
	}
	return t.tables(slot, func(_ int, field table) error {
		field.count(6, 4)
		return checkFields(field, 5, depth+1, entries)
	})
}
