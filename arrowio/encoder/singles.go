package encoder

// encodeSingles writes a column of times, or one of numbers with a dimension for missing ones, into
// a block.
func (r *Rows) encodeSingles(b *block, c *boundColumn, in *input) {
	n := b.rows.len()
	r.strip, r.absent = resize(r.strip, n), resize(r.absent, n)
	clear(r.absent)
	b.absent = r.absent
	r.scaleColumn(b, c, in, r.strip)
	b.absent = nil
	for i, v := range r.strip {
		b.x[i*b.dim+c.at] = v
	}
	extra := 0
	for _, cycle := range c.cycles {
		r.encodeCycle(b, c, extra, cycle)
		extra += c.cycleDims
	}
	if c.flagged {
		r.encodeFlags(b, c, extra)
	}
}

// scaleParsed is scaleColumn for numbers converted from times or text. It leaves them in r.loaded.
func (r *Rows) scaleParsed(b *block, c *boundColumn, in *input, dst []float32) {
	r.loaded, r.null = resize(r.loaded, len(dst)), resize(r.null, len(dst))
	if isTime(c.kind) {
		loadTimes(r.loaded, r.null, in.array, b.rows, c.kind, &c.form)
	} else {
		loadParsed(r.loaded, r.null, in.array, b.rows, c.form.number)
	}
	if isText(in.array) {
		b.addMisfits(in.array, r.null)
	}
	if in.strict {
		refuseTexts(b.fault, in.array, b.rows, c.kind, &c.form, func(i int) bool { return r.null[i] })
	}
	scaleNumbers(b, dst, r.loaded, r.null, &c.scaling)
	b.missAll(dst, r.null, &c.scaling)
}

// encodeCycle writes the dimensions of a cycle for the times in r.loaded; extra is their place
// among the extras of the column. A missing time is in the middle of the circle and of the period.
func (r *Rows) encodeCycle(b *block, c *boundColumn, extra int, cycle *cycleFacts) {
	for i, seconds := range r.loaded {
		var place [len(cycleNames)]float64
		if !r.absent[i] {
			place = cycle.place(seconds)
		}
		for j, v := range place[:c.cycleDims] {
			b.setExtra(i, c, extra+j, v)
		}
	}
}

// encodeFlags writes the dimension for missing values.
func (r *Rows) encodeFlags(b *block, c *boundColumn, extra int) {
	for i, absent := range r.absent {
		b.setExtra(i, c, extra, float64(count(absent)))
	}
}

// setExtra writes one of the extra dimensions of a column in row i.
func (b *block) setExtra(i int, c *boundColumn, extra int, v float64) {
	x, clipped := c.extras.apply(extra, v)
	b.x[i*b.dim+c.at+1+extra] = x
	b.counts.Clipped += count(clipped)
}
