package ec2facts

import "github.com/plimsoll-go/plimsoll/instancetypes/internal/compact"

// Source is where figures were read, and when they were true.
type Source struct {
	// Module is a Go module with its version.
	Module string
	// Date is a day as YYYY-MM-DD.
	Date string
}

// Sources names the origin of the shapes.
type Sources struct {
	// Instances describes machines, prices of all regions, spot prices, bands, zones.
	Instances Source
	// Limits tells network interfaces and their addresses.
	Limits Source
	// Bandwidth tells the network bandwidth and the fresher prices.
	Bandwidth Source
}

func (s *Sources) each(f func(key string, to *string)) {
	f("instances", &s.Instances.Module)
	f("instancesdate", &s.Instances.Date)
	f("limits", &s.Limits.Module)
	f("limitsdate", &s.Limits.Date)
	f("bandwidth", &s.Bandwidth.Module)
	f("bandwidthdate", &s.Bandwidth.Date)
}

func (s Sources) facts() []compact.Fact {
	var facts []compact.Fact
	s.each(func(key string, to *string) { facts = append(facts, compact.Fact{Key: key, Value: *to}) })
	return facts
}

func readSources(r *compact.Reader) Sources {
	var s Sources
	s.each(func(key string, to *string) { *to = r.Fact(key) })
	return s
}
