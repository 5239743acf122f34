package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sums generates the kernels that add features to sums.
func sums(s isa) {
	valueSums(s)
	classSums(s)
	productSums(s)
}

// lanes is the memory of vector number v after pointer, bytes each.
func lanes(pointer reg.Register, v, bytes int) Mem { return Mem{Base: pointer, Disp: v * bytes} }

// widen loads half a vector of float32 from m into a whole one of float64.
func widen(m Mem, to reg.Register) { VCVTPS2PD(m, to) }

// doubles is the number of float64 vectors of a panel.
func (s isa) doubles() int { return panel * 8 / s.bytes }

// eachGroup emits code for a panel's float64 vectors, size at a time.
func (s isa) eachGroup(size int, emit func(first, size int)) {
	for first := 0; first < s.doubles(); first += size {
		emit(first, size)
	}
}

// valueSums generates the kernel for one output with a value for each row.
func valueSums(s isa) {
	name := "valueSums" + s.name
	TEXT(name, noSplit, "func(sum, square, product *float64, phi *float32, rows int, y *float32, yStride int)")
	Pragma("noescape")
	Doc(
		name+" adds the features of a panel to its sums, in the order of the rows. rows is positive.",
		"",
		"	for r := range rows {",
		"		for f := range 48 {",
		"			v := float64(phi[48*r+f])",
		"			sum[f] += v",
		"			square[f] += v * v                          // rounded only by the addition",
		"			product[f] += float64(y[yStride*r]) * v     // rounded only by the addition",
		"		}",
		"	}",
	)
	size := 6
	if !s.wide() {
		size = 4
	}
	s.eachGroup(size, func(first, size int) {
		sum := load("sum")
		square := load("square")
		product := load("product")
		phi := load("phi")
		rows := load("rows")
		y := load("y")
		yBytes := loadBytes("yStride")
		totals := [][]reg.Register{s.regs[:size], s.regs[size : 2*size], s.regs[2*size : 3*size]}
		pointers := []reg.Register{sum, square, product}
		s.loadTotals(pointers, totals, first)
		v, value := s.regs[3*size], s.regs[3*size+1]
		label := name + "Rows" + string(rune('0'+first/size))
		Label(label)
		s.broadcastDouble(Mem{Base: y}, value)
		for i := range size {
			widen(lanes(phi, first+i, s.bytes/2), v)
			VADDPD(v, totals[0][i], totals[0][i])
			VFMADD231PD(v, v, totals[1][i])
			VFMADD231PD(v, value, totals[2][i])
		}
		ADDQ(U32(4*panel), phi)
		ADDQ(yBytes, y)
		DECQ(rows)
		JNZ(LabelRef(label))
		s.storeTotals(pointers, totals, first)
	})
	VZEROUPPER()
	RET()
}

// classSums generates the kernel for classes, where the sum of the row's class replaces a product.
func classSums(s isa) {
	name := "classSums" + s.name
	TEXT(name, noSplit, "func(sum, square, classes *float64, phi *float32, rows int, class *int32, classStride int)")
	Pragma("noescape")
	Doc(
		name+" adds the features of a panel to its sums, in the order of the rows. rows is positive.",
		"",
		"	for r := range rows {",
		"		for f := range 48 {",
		"			v := float64(phi[48*r+f])",
		"			sum[f] += v",
		"			square[f] += v * v // rounded only by the addition",
		"			classes[classStride*int(class[r])+f] += v",
		"		}",
		"	}",
	)
	size := 6
	s.eachGroup(size, func(first, size int) {
		sum := load("sum")
		square := load("square")
		classes := load("classes")
		phi := load("phi")
		rows := load("rows")
		class := load("class")
		stride := load("classStride")
		SHLQ(U8(3), stride)
		totals := [][]reg.Register{s.regs[:size], s.regs[size : 2*size]}
		pointers := []reg.Register{sum, square}
		s.loadTotals(pointers, totals, first)
		label := name + "Rows" + string(rune('0'+first/size))
		own := GP64()
		Label(label)
		MOVLQSX(Mem{Base: class}, own)
		IMULQ(stride, own)
		ADDQ(classes, own)
		for i := range size {
			v, total := s.regs[2*size+2*(i%2)], s.regs[2*size+2*(i%2)+1]
			widen(lanes(phi, first+i, s.bytes/2), v)
			VADDPD(v, totals[0][i], totals[0][i])
			VFMADD231PD(v, v, totals[1][i])
			VADDPD(lanes(own, first+i, s.bytes), v, total)
			VMOVUPD(total, lanes(own, first+i, s.bytes))
		}
		ADDQ(U32(4*panel), phi)
		ADDQ(U8(4), class)
		DECQ(rows)
		JNZ(LabelRef(label))
		s.storeTotals(pointers, totals, first)
	})
	VZEROUPPER()
	RET()
}

// productSums generates the kernel for every further output.
func productSums(s isa) {
	name := "productSums" + s.name
	TEXT(name, noSplit, "func(product *float64, phi *float32, rows int, y *float32, yStride int)")
	Pragma("noescape")
	Doc(
		name+" adds the products of a panel's features with an output to their sums, in the order of the rows.",
		"rows is positive.",
		"",
		"	for r := range rows {",
		"		for f := range 48 {",
		"			product[f] += float64(y[yStride*r]) * float64(phi[48*r+f]) // rounded only by the addition",
		"		}",
		"	}",
	)
	product := load("product")
	phi := load("phi")
	rows := load("rows")
	y, yBytes := load("y"), loadBytes("yStride")
	size := s.doubles()
	if !s.wide() {
		size /= 2
	}
	start, outputs := GP64(), GP64()
	MOVQ(phi, start)
	MOVQ(y, outputs)
	s.eachGroup(size, func(first, size int) {
		if first > 0 {
			MOVQ(start, phi)
			MOVQ(outputs, y)
			Load(Param("rows"), rows)
		}
		totals := [][]reg.Register{s.regs[:size]}
		pointers := []reg.Register{product}
		s.loadTotals(pointers, totals, first)
		v, value := s.regs[size], s.regs[size+1]
		label := name + "Rows" + string(rune('0'+first/size))
		Label(label)
		s.broadcastDouble(Mem{Base: y}, value)
		for i := range size {
			widen(lanes(phi, first+i, s.bytes/2), v)
			VFMADD231PD(v, value, totals[0][i])
		}
		ADDQ(U32(4*panel), phi)
		ADDQ(yBytes, y)
		DECQ(rows)
		JNZ(LabelRef(label))
		s.storeTotals(pointers, totals, first)
	})
	VZEROUPPER()
	RET()
}

// broadcastDouble fills to with the float32 at m, widened.
func (s isa) broadcastDouble(m Mem, to reg.Register) {
	if s.wide() {
		VCVTPS2PD_BCST(m, to)
		return
	}
	low := to.(reg.VecPhysical).AsX()
	VBROADCASTSS(m, low)
	VCVTPS2PD(low, to)
}

func (s isa) loadTotals(pointers []reg.Register, totals [][]reg.Register, first int) {
	for i, p := range pointers {
		for v, total := range totals[i] {
			VMOVUPD(lanes(p, first+v, s.bytes), total)
		}
	}
}

func (s isa) storeTotals(pointers []reg.Register, totals [][]reg.Register, first int) {
	for i, p := range pointers {
		for v, total := range totals[i] {
			VMOVUPD(total, lanes(p, first+v, s.bytes))
		}
	}
}
