package arrowio

import "github.com/apache/arrow/go/v15/arrow"

// temporalOrDecimalColumn covers the types of numbers with a parameter: units, bit widths, scales.
func temporalOrDecimalColumn(id typeID, t table) (*column, error) {
	const millisecond = int16(arrow.Millisecond) // the format's default unit for these
	switch id {
	case typeDecimal:
		return decimalColumn(t.int32(0, 0), t.int32(1, 0), t.int32(2, 128))
	case typeDate:
		return oneOf("date", t.int16(0, 1), arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64)
	case typeDuration:
		return oneOf("duration", t.int16(0, millisecond),
			arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_ms,
			arrow.FixedWidthTypes.Duration_us, arrow.FixedWidthTypes.Duration_ns)
	case typeInterval:
		return oneOf("interval", t.int16(0, 0), arrow.FixedWidthTypes.MonthInterval,
			arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval)
	}
	return timeColumn(t.int16(0, millisecond), t.int32(1, 32))
}

// oneOf picks the type for a unit.
func oneOf(what string, unit int16, types ...arrow.DataType) (*column, error) {
	if unit < 0 || int(unit) >= len(types) {
		return nil, unsupported("%s of unit %d", what, unit)
	}
	return fixed(types[unit])
}

func timeColumn(unit int16, bits int32) (*column, error) {
	switch {
	case bits == 32 && (unit == 0 || unit == 1):
		return oneOf("time", unit, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms)
	case bits == 64 && (unit == 2 || unit == 3):
		return oneOf("time", unit-2, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns)
	}
	return nil, unsupported("time of unit %d in %d bits", unit, bits)
}

// timestampColumn keeps the time zone unchanged: an unknown one is read as UTC.
func (p *schemaParser) timestampColumn(t table) (*column, error) {
	unit := t.int16(0, 0)
	if unit < 0 || unit > int16(arrow.Nanosecond) {
		return nil, unsupported("timestamp of unit %d", unit)
	}
	zone, err := p.text(t, 1)
	if err != nil {
		return nil, err
	}
	return fixed(&arrow.TimestampType{Unit: arrow.TimeUnit(unit), TimeZone: zone})
}

// decimalColumn refuses scales that the format does not define: to print a decimal, the library
// looks its scale up in a table of powers of ten.
func decimalColumn(precision, scale, bits int32) (*column, error) {
	most := map[int32]int32{128: 38, 256: 76}[bits]
	if precision < 1 || precision > most || scale < -most || scale > most {
		return nil, unsupported("decimal of %d bits, precision %d, scale %d", bits, precision, scale)
	}
	if bits == 128 {
		return fixed(&arrow.Decimal128Type{Precision: precision, Scale: scale})
	}
	return fixed(&arrow.Decimal256Type{Precision: precision, Scale: scale})
}
