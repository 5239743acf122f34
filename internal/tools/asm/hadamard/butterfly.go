package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// address gives the memory of vector i of a butterfly. Calls come with i rising from 0.
type address func(i int) Mem

// contiguous are vectors one behind the other.
func contiguous(base reg.GPVirtual, v isa) address {
	return func(i int) Mem { return Mem{Base: base, Disp: i * v.bytes()} }
}

// strided are up to eight vectors stride bytes apart; from the fourth on they are addressed from a second base.
func strided(base, stride reg.GPVirtual) address {
	at := base
	return func(i int) Mem {
		if i == 3 || i == 6 {
			next := GP64()
			LEAQ(Mem{Base: at, Index: stride, Scale: 2}, next)
			ADDQ(stride, next)
			at = next
		}
		m := Mem{Base: at}
		if i%3 > 0 {
			m.Index, m.Scale = stride, uint8(i%3)
		}
		return m
	}
}

// registers hold vectors on their way through some levels.
type registers struct {
	isa
	data []reg.VecPhysical
	// spare are registers of no value.
	spare []reg.VecPhysical
}

// load returns vectors of src times those of diag; a nil diag is a diagonal of ones.
func (v isa) load(src, diag address, vectors int) *registers {
	h := &registers{isa: v, data: append([]reg.VecPhysical(nil), v.regs[:vectors]...)}
	h.spare = append(h.spare, v.regs[vectors:len(v.regs)-len(v.strides)]...)
	for i, r := range h.data {
		VMOVUPS(src(i), r)
	}
	if diag != nil {
		for i, r := range h.data {
			VMULPS(diag(i), r, r)
		}
	}
	return h
}

// store writes the vectors.
func (h *registers) store(dst address) {
	for i, r := range h.data {
		VMOVUPS(r, dst(i))
	}
}

// acrossVectors does the levels between vectors, the greatest distance first.
func (h *registers) acrossVectors() {
	for stride := len(h.data) / 2; stride > 0; stride /= 2 {
		for i := range h.data {
			if i&stride == 0 {
				h.butterfly(i, i+stride)
			}
		}
	}
}

// butterfly replaces vectors i and j by their sum and their difference. The sum goes to a spare register, and the one
// that it leaves becomes spare, the last to be taken again.
func (h *registers) butterfly(i, j int) {
	sum := h.spare[0]
	VADDPS(h.data[j], h.data[i], sum)
	VSUBPS(h.data[j], h.data[i], h.data[j])
	h.spare = append(h.spare[1:], h.data[i])
	h.data[i] = sum
}

// acrossLanes does the levels within vectors. A product with ±1 is exact, so the fused operation rounds as the sum or
// the difference does.
func (h *registers) acrossLanes() {
	for level, stride := range h.strides {
		for i, r := range h.data {
			swapped := h.spare[i%len(h.spare)]
			h.swap(stride, r, swapped)
			VFMADD213PS(swapped, h.sign(level), r)
		}
	}
}

// sign is the register of the sign vector of a level within vectors: +1 in the lanes that take a sum, −1 in those that
// take a difference.
func (v isa) sign(level int) reg.VecPhysical { return v.regs[len(v.regs)-1-level] }

// loadSigns fills the sign registers.
func (v isa) loadSigns() {
	for level, m := range v.signs {
		VMOVUPS(m, v.sign(level))
	}
}
