package arrowio

import "github.com/apache/arrow/go/v15/arrow"

// stream is the state of decoding one message.
type stream struct {
	d       *Decoder
	frames  frames
	budget  Budget
	schema  *schema
	dicts   dictionaries
	records []arrow.Record
	rows    int64
	index   int // number of the IPC message being read, from 0
}

func newStream(d *Decoder, value []byte) *stream {
	return &stream{
		d:      d,
		frames: frames{rest: value, first: true},
		budget: NewBudget(d.limits.BudgetBytes),
		dicts:  make(dictionaries),
		index:  -1,
	}
}

// next handles one IPC message; more is false at the end of the stream.
func (s *stream) next() (more bool, err error) {
	s.index++
	f, ok, err := s.frames.next()
	if err != nil || !ok {
		return false, err
	}
	if s.schema == nil {
		if f.kind != headerSchema {
			return false, corrupt("the stream begins with a message of type %d, not with a schema", f.kind)
		}
		s.schema, err = s.d.schemas.get(f, s.d.limits, &s.budget)
		return err == nil, err
	}
	switch f.kind {
	case headerRecords:
		err = s.addRecord(f)
	case headerDictionary:
		err = s.addDictionary(f)
	case headerTensor, headerSparse:
		err = unsupported("tensor message")
	case headerSchema:
		err = corrupt("a second schema")
	default:
		err = corrupt("message of unknown type %d", f.kind)
	}
	return err == nil, err
}

// addRecord turns a record-batch message into a record.
func (s *stream) addRecord(f frame) error {
	b, err := readBatch(f.fb, f.header, f.body)
	if err != nil {
		return err
	}
	if err := checkLength("batch", b.length, int64(s.d.limits.MaxRows)-s.rows); err != nil {
		return err
	}
	if err := s.budget.Take(recordCost); err != nil {
		return err
	}
	l := newLoader(s, b)
	defer l.release()
	rec, err := l.record(s.schema)
	if err != nil {
		return err
	}
	s.rows += b.length
	s.records = append(s.records, rec)
	return nil
}

// checkLength checks the rows of a batch or the entries of a dictionary.
func checkLength(what string, length, most int64) error {
	switch {
	case length < 0:
		return corrupt("%s of %d rows", what, length)
	case length > most:
		return tooLarge("%s of %d rows where at most %d are left", what, length, most)
	}
	return nil
}

// addDictionary adds or replaces a dictionary.
func (s *stream) addDictionary(f frame) error {
	data, ok := f.header.sub(1)
	id, delta := f.header.int64(0), f.header.bool(2)
	if f.fb.err != nil {
		return f.fb.err
	}
	if !ok {
		return corrupt("dictionary %d without data", id)
	}
	if delta {
		return unsupported("a delta to dictionary %d", id)
	}
	values, ok := s.schema.dictionaries[id]
	if !ok {
		return corrupt("dictionary %d is not in the schema", id)
	}
	b, err := readBatch(f.fb, data, f.body)
	if err != nil {
		return err
	}
	if err := checkLength("dictionary", b.length, int64(s.d.limits.MaxRows)); err != nil {
		return err
	}
	l := newLoader(s, b)
	defer l.release()
	chunk, err := l.values(values)
	if err != nil {
		return err
	}
	s.dicts.put(id, chunk)
	return nil
}

// abandon releases the memory of a refused message.
func (s *stream) abandon() {
	for _, rec := range s.records {
		rec.Release()
	}
	s.records = nil
	s.dicts.release()
}
