package ec2data

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
)

func TestDerive(t *testing.T) {
	for _, tt := range []struct {
		name        string
		vcpu, gib   int64
		arch, maker string
	}{
		{"c9g.medium", 1, 2, "arm64", "aws"},
		{"c8i-flex.16xlarge", 64, 128, "amd64", "intel"},
		{"c8ine.12xlarge", 48, 96, "amd64", "intel"},
		{"m8a.xlarge", 4, 16, "amd64", "amd"},
		{"m8azn.metal-12xl", 48, 192, "amd64", "amd"},
		{"m8idn.metal-96xl", 384, 1536, "amd64", "intel"},
		{"r8gb.large", 2, 16, "arm64", "aws"},
		{"x8i.64xlarge", 256, 4096, "amd64", "intel"},
		{"i8ge.18xlarge", 72, 576, "arm64", "aws"},
		{"i7i.2xlarge", 8, 64, "amd64", "intel"},
	} {
		got, ok := derive(tt.name)
		assert.True(t, ok, tt.name)
		assert.Equal(t, facts.Shape{
			Name: tt.name, VCPU: tt.vcpu, MemoryMiB: tt.gib << 10, Arch: tt.arch, CPUMaker: tt.maker, Derived: true,
		}, got)
	}
	for _, name := range []string{
		"g7e.2xlarge", "p6-b200.48xlarge", "gr6f.4xlarge", "hpc8a.96xlarge", "t9g.large", "z9d.large", "u7i-12tb.224xlarge",
		"c5n.large",    // an exception of an older generation
		"i3p.16xlarge", // older, and odd
		"m8.large",     // no maker
		"m8q.large",    // no maker that is known
		"m8i.metal",    // no size
		"m8i.metal-48", // not how sizes are written
		"m8i.48xl",
		"m8i.metal-48xlarge",
		"m8i.nano", "m8i.1xlarge", "m8i.0xlarge", "m8i.", "m8i", "", ".large",
		"m99999999999999999999i.large", "m8i.99999999999999999999xlarge",
	} {
		_, ok := derive(name)
		assert.False(t, ok, name)
	}
}

func FuzzDerive(f *testing.F) {
	for _, name := range []string{"m8i.metal-48xl", "c9g.medium", "x8i.64xlarge", "m5.large", ".", "r8gb"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s, ok := derive(name)
		if !ok {
			assert.Equal(t, facts.Shape{}, s)
			return
		}
		assert.Positive(t, s.VCPU)
		assert.Positive(t, s.MemoryMiB)
		assert.Contains(t, []string{"amd64", "arm64"}, s.Arch)
		assert.NotEmpty(t, s.CPUMaker)
	})
}
