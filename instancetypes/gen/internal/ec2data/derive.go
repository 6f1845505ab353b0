package ec2data

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/ec2facts"
)

// familyName matches families whose sizes follow one rule: a category of the five
// below, one digit for the generation, letters for features, perhaps "-flex".
var familyName = regexp.MustCompile(`^(c|i|m|r|x)(\d+)([a-z]*)(-flex)?$`)

// sizeName matches "12xlarge" and the part of "metal-48xl" that follows "metal-".
var sizeName = regexp.MustCompile(`^(\d+)xl(arge)?$`)

// firstDerived is the first generation whose types are derived from their names.
// Earlier ones hold exceptions to the rule, such as c5n.
const firstDerived = 7

// derive reads the shape of a type off its name. Since the seventh generation the
// compute, general purpose, memory, large memory and storage families have 2, 4, 8,
// 16 and 8 GiB per vCPU, an xlarge is four vCPUs, and the letter that follows the
// generation names the maker: g is AWS's own arm64, a AMD, i Intel. Local disks and
// bandwidth to network disks cannot be told from the name.
func derive(name string) (ec2facts.Shape, bool) {
	family, size, _ := strings.Cut(name, ".")
	m := familyName.FindStringSubmatch(family)
	vcpu, ok := vcpuOf(size)
	if m == nil || !ok {
		return ec2facts.Shape{}, false
	}
	if generation, err := strconv.Atoi(m[2]); err != nil || generation < firstDerived {
		return ec2facts.Shape{}, false
	}
	s := ec2facts.Shape{Name: name, VCPU: vcpu, MemoryMiB: vcpu * gibPerVCPU(m[1]) << 10, Arch: "amd64", Derived: true}
	switch {
	case strings.HasPrefix(m[3], "g"):
		s.Arch, s.CPUMaker = "arm64", "aws"
	case strings.HasPrefix(m[3], "a"):
		s.CPUMaker = "amd"
	case strings.HasPrefix(m[3], "i"):
		s.CPUMaker = "intel"
	default:
		return ec2facts.Shape{}, false
	}
	return s, true
}

func gibPerVCPU(category string) int64 {
	return map[string]int64{"c": 2, "m": 4, "r": 8, "i": 8, "x": 16}[category]
}

// vcpuOf tells the vCPUs of a size; false for sizes that do not say.
func vcpuOf(size string) (int64, bool) {
	switch size {
	case "medium":
		return 1, true
	case "large":
		return 2, true
	case "xlarge":
		return 4, true
	}
	bare, metal := strings.CutPrefix(size, "metal-")
	m := sizeName.FindStringSubmatch(bare)
	if len(m) == 0 {
		return 0, false
	}
	if twice := m[2] != ""; metal == twice {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil || n < 2 {
		return 0, false
	}
	return 4 * n, true
}
