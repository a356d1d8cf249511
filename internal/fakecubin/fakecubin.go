// Package fakecubin makes small cubins for tests, which are whole ELF files and run nowhere.
package fakecubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// The words that tell a cubin from other ELF files, as CUDA 13 writes them.
const (
	machineCUDA = elf.Machine(190)
	osabiCUDA13 = elf.OSABI(65)
)

// New is a small ELF file with one kernel, of the kind that CUDA 13 makes; "host" is one of another machine.
func New(arch, kernel string) []byte {
	machine, flags := machineCUDA, uint32(0x06000004)
	if arch == "host" {
		machine = elf.EM_X86_64
	} else {
		var n uint32
		if _, err := fmt.Sscanf(strings.TrimRight(arch, "af"), "sm_%d", &n); err != nil {
			panic(err)
		}
		flags |= n << 8
	}
	return With(elf.Header64{Machine: uint16(machine), Flags: flags}, osabiCUDA13, kernel)
}

// With is New with a header's machine and flags and an ABI. It lays the file out: header, code, symbols, names, section headers.
func With(h elf.Header64, osabi elf.OSABI, kernel string) []byte {
	names := "\x00.text." + kernel + "\x00.symtab\x00.strtab\x00" + kernel + "\x00"
	at := func(s string) uint32 { return uint32(strings.Index(names, "\x00"+s+"\x00") + 1) }
	code := bytes.Repeat([]byte{0x18}, 128)
	symbols := []elf.Sym64{{}, {Name: at(kernel), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Size: uint64(len(code))}}
	codeAt := uint64(64)
	symbolsAt := codeAt + uint64(len(code))
	namesAt := symbolsAt + 2*elf.Sym64Size
	sectionsAt := (namesAt + uint64(len(names)) + 7) / 8 * 8
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	h.Ident[elf.EI_OSABI], h.Ident[elf.EI_ABIVERSION] = byte(osabi), 8
	h.Type, h.Version, h.Ehsize, h.Shoff = uint16(elf.ET_EXEC), 1, 64, sectionsAt
	h.Shentsize, h.Shnum, h.Shstrndx = 64, 4, 3
	sections := []elf.Section64{
		{},
		{Name: at(".text." + kernel), Type: uint32(elf.SHT_PROGBITS), Off: codeAt, Size: uint64(len(code))},
		{Name: at(".symtab"), Type: uint32(elf.SHT_SYMTAB), Off: symbolsAt, Size: 2 * elf.Sym64Size, Link: 3, Entsize: elf.Sym64Size},
		{Name: at(".strtab"), Type: uint32(elf.SHT_STRTAB), Off: namesAt, Size: uint64(len(names))},
	}
	var b bytes.Buffer
	put := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	put(h)
	put(code)
	put(symbols)
	b.WriteString(names)
	b.Write(make([]byte, int(sectionsAt)-b.Len()))
	put(sections)
	return b.Bytes()
}
