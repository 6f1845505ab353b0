package ec2facts

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/compact"
)

// Shape is what a machine of one instance type is. A number that is not known is 0
// and a text that is not known is empty.
type Shape struct {
	// Name is the instance type, such as "m5.large".
	Name string
	// VCPU counts virtual cores.
	VCPU int64
	// MemoryMiB is the memory that EC2 advertises.
	MemoryMiB int64
	// Arch is amd64 or arm64.
	Arch string
	// CPUMaker is intel, amd or aws.
	CPUMaker string
	// Hypervisor is nitro or xen; empty on bare metal.
	Hypervisor string
	// Interfaces counts the network interfaces of the default network card, and
	// Addresses the IPv4 addresses of each.
	Interfaces, Addresses int64
	// BranchInterfaces counts the interfaces that pods can have of their own.
	BranchInterfaces int64
	// NetworkMbps is the baseline network bandwidth, EBSMbps the highest bandwidth to
	// network disks of types that are optimised for them by default.
	NetworkMbps, EBSMbps int64
	// LocalDiskGB is the size of all NVMe instance stores together, in 10^9 bytes.
	LocalDiskGB int64
	// Accelerator describes the GPUs or other accelerators, all of one kind.
	Accelerator Accelerator
	// Derived tells that cores, memory, architecture and maker were read off the name
	// of the type, because no source describes it.
	Derived bool
}

// Accelerator is a set of equal devices. Without devices it is the zero value.
type Accelerator struct {
	// Resource is the extended resource that counts the devices.
	Resource string
	// Name and Maker are those of the device, as the labels spell them.
	Name, Maker string
	// Count is the number of devices.
	Count int64
	// MemoryMiB is the memory of each device.
	MemoryMiB int64
	// Cores counts the neuron cores of each device.
	Cores int64
}

// IsMetal reports whether a type of that name is a whole machine without a
// hypervisor: its size is "metal" or begins with "metal-".
func IsMetal(name string) bool {
	_, size := splitName(name)
	return size == "metal" || strings.HasPrefix(size, "metal-")
}

// shapeField is a column of the table of shapes.
type shapeField struct {
	name string
	text func(*Shape) *string // one of text and number is set
	num  func(*Shape) *int64
}

func shapeFields() []shapeField {
	return []shapeField{
		{name: "name", text: func(s *Shape) *string { return &s.Name }},
		{name: "vcpu", num: func(s *Shape) *int64 { return &s.VCPU }},
		{name: "memory", num: func(s *Shape) *int64 { return &s.MemoryMiB }},
		{name: "arch", text: func(s *Shape) *string { return &s.Arch }},
		{name: "cpumaker", text: func(s *Shape) *string { return &s.CPUMaker }},
		{name: "hypervisor", text: func(s *Shape) *string { return &s.Hypervisor }},
		{name: "interfaces", num: func(s *Shape) *int64 { return &s.Interfaces }},
		{name: "addresses", num: func(s *Shape) *int64 { return &s.Addresses }},
		{name: "branches", num: func(s *Shape) *int64 { return &s.BranchInterfaces }},
		{name: "network", num: func(s *Shape) *int64 { return &s.NetworkMbps }},
		{name: "ebs", num: func(s *Shape) *int64 { return &s.EBSMbps }},
		{name: "localdisk", num: func(s *Shape) *int64 { return &s.LocalDiskGB }},
		{name: "accelerator", text: func(s *Shape) *string { return &s.Accelerator.Resource }},
		{name: "acceleratorname", text: func(s *Shape) *string { return &s.Accelerator.Name }},
		{name: "acceleratormaker", text: func(s *Shape) *string { return &s.Accelerator.Maker }},
		{name: "accelerators", num: func(s *Shape) *int64 { return &s.Accelerator.Count }},
		{name: "acceleratormemory", num: func(s *Shape) *int64 { return &s.Accelerator.MemoryMiB }},
		{name: "acceleratorcores", num: func(s *Shape) *int64 { return &s.Accelerator.Cores }},
	}
}

const derivedColumn = "derived"

// Shapes is the content of the file of shapes.
type Shapes struct {
	// Sources names where the shapes come from.
	Sources Sources
	// List holds the shapes in order of name.
	List []Shape
}

// Table writes the shapes as a table. Names must ascend.
func (s Shapes) Table() (*compact.Table, error) {
	if err := ascending(len(s.List), func(i int) string { return s.List[i].Name }); err != nil {
		return nil, err
	}
	t := &compact.Table{Facts: s.Sources.facts()}
	for _, f := range shapeFields() {
		cells := make([]string, len(s.List))
		for i := range s.List {
			if f.text != nil {
				cells[i] = *f.text(&s.List[i])
			} else if n := *f.num(&s.List[i]); n != 0 {
				cells[i] = strconv.FormatInt(n, 10)
			}
		}
		t.Columns = append(t.Columns, compact.Column{Name: f.name, Cells: cells})
	}
	derived := make([]string, len(s.List))
	for i := range s.List {
		if s.List[i].Derived {
			derived[i] = "1"
		}
	}
	t.Columns = append(t.Columns, compact.Column{Name: derivedColumn, Cells: derived})
	return t, nil
}

// ReadShapes is the inverse of [Shapes.Table].
func ReadShapes(t *compact.Table) (Shapes, error) {
	r := compact.NewReader(t)
	list := make([]Shape, t.Rows())
	for _, f := range shapeFields() {
		if f.text != nil {
			for i, cell := range r.Text(f.name) {
				*f.text(&list[i]) = cell
			}
			continue
		}
		for i, n := range r.Ints(f.name) {
			*f.num(&list[i]) = n
		}
	}
	for i, n := range r.Ints(derivedColumn) {
		list[i].Derived = n != 0
	}
	s := Shapes{Sources: readSources(r), List: list}
	if err := r.Err(); err != nil {
		return Shapes{}, fmt.Errorf("instance shapes: %w", err)
	}
	if err := ascending(len(list), func(i int) string { return list[i].Name }); err != nil {
		return Shapes{}, err
	}
	return s, nil
}
