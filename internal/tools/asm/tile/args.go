package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// featuresSignature is the signature of features at every level. Strides are in numbers.
const featuresSignature = "func(dst *float32, dstStride int, init *float32, initStride int, " +
	"x *float32, xStride int, w *float32, dim int, rows int, factor *float32, op int)"

// featuresDoc describes the loop of features, in which a product and its addition are rounded once.
func featuresDoc(name string) []string {
	return []string{
		name + " maps rows of x to the 48 features of a panel. rows is positive; dst does not overlap init.",
		"",
		"	for r := range rows {",
		"		for f := range 48 {",
		"			z := init[r*initStride+f]",
		"			for k := range dim {",
		"				z = fma(x[r*xStride+k], w[48*k+f], z)",
		"			}",
		"			dst[r*dstStride+f] = factor[f] * apply(op, z) // no multiplication where factor is nil",
		"		}",
		"	}",
	}
}

// load returns the register of a parameter.
func load(name string) reg.GPVirtual {
	r := GP64()
	Load(Param(name), r)
	return r
}

// loadBytes returns the register of a parameter that counts float32 numbers, converted to bytes.
func loadBytes(name string) reg.GPVirtual {
	r := load(name)
	SHLQ(U8(2), r)
	return r
}

// at is the memory of row r (0..2 of a group), displacement bytes after pointer.
func at(pointer, stride reg.Register, r, displacement int) Mem {
	m := Mem{Base: pointer, Disp: displacement}
	if r > 0 {
		m.Index, m.Scale = stride, uint8(r)
	}
	return m
}

// rowPointers are the addresses of rows 0, 3 and 6 of a tile; the others follow by an index.
type rowPointers struct {
	base   [3]reg.GPVirtual
	stride reg.GPVirtual
}

// newRowPointers returns pointers to rows from first on.
func newRowPointers(first, stride reg.GPVirtual, rows int) rowPointers {
	p := rowPointers{stride: stride}
	for i := range p.base {
		if 3*i >= rows {
			break
		}
		p.base[i] = GP64()
		if i == 0 {
			MOVQ(first, p.base[0])
			continue
		}
		LEAQ(Mem{Base: p.base[i-1], Index: stride, Scale: 2}, p.base[i])
		ADDQ(stride, p.base[i])
	}
	return p
}

// row is the memory of row r of the tile.
func (p rowPointers) row(r, displacement int) Mem {
	return at(p.base[r/3], p.stride, r%3, displacement)
}

// advance moves all pointers by bytes.
func (p rowPointers) advance(bytes int) {
	for _, b := range p.base {
		if b != nil {
			ADDQ(Imm(uint64(bytes)), b)
		}
	}
}

// align starts a function on a cache line. Otherwise its position, and up to 3 % of the time of its
// loops, would depend on the other functions of the program.
func align() {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{U8(64)}})
}
