package instancetypes

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// emptyLabel is the cell of a label whose value is the empty string, since an
// empty cell means that there is no such label.
const emptyLabel = `""`

// gpuResource is the resource in the column gpu.
const gpuResource = "nvidia.com/gpu"

// csvColumn is one column of the CSV format: a field of the type or of the offering, or an
// entry of a field that is a map.
type csvColumn struct {
	// name is the heading, path the field that it stands for, as [CatalogFault] names it:
	// within the offering if the column belongs to that, else within the type.
	name, path string
	offering   bool
	index      []int  // of the field
	key        string // of the entry; empty for a whole field
	omitempty  bool   // whether JSON leaves the field out where it is zero
}

// newColumn returns the column of the field with a path of names in JSON, or of an entry.
func newColumn(heading, field, key string, offering bool) csvColumn {
	c := csvColumn{name: heading, path: field, key: key, offering: offering}
	at := reflect.TypeFor[InstanceType]()
	if offering {
		at = reflect.TypeFor[offerings.Offering]()
	}
	for name := range strings.SplitSeq(field, ".") {
		c.index = append(c.index, fieldIndex(at, name)...)
		last := at.Field(c.index[len(c.index)-1])
		at, c.omitempty = last.Type, strings.Contains(last.Tag.Get("json"), ",omitempty")
	}
	if key != "" {
		c.path = strict.Member(field, key)
	}
	return c
}

// field returns the field of the column, the map if the column is an entry of one.
func (c csvColumn) field(t *InstanceType, o *offerings.Offering) reflect.Value {
	if c.offering {
		return reflect.ValueOf(o).Elem().FieldByIndex(c.index)
	}
	return reflect.ValueOf(t).Elem().FieldByIndex(c.index)
}

// readCell reads a cell that is not empty and returns its fault.
func (c csvColumn) readCell(t *InstanceType, o *offerings.Offering, cell string) error {
	field := c.field(t, o)
	if c.key == "" {
		return setText(field, cell)
	}
	entry := reflect.New(field.Type().Elem()).Elem()
	if entry.Kind() == reflect.String && cell == emptyLabel {
		cell = ""
	}
	if err := setText(entry, cell); err != nil {
		return err
	}
	if field.IsNil() {
		field.Set(reflect.MakeMap(field.Type()))
	}
	field.SetMapIndex(c.mapKey(field), entry)
	return nil
}

// get is the inverse of readCell: the empty string for an absent value.
func (c csvColumn) get(t *InstanceType, o *offerings.Offering) string {
	field := c.field(t, o)
	switch {
	case c.key == "" && c.omitempty && field.IsZero():
		return ""
	case c.key == "":
		return textOf(field)
	}
	entry := field.MapIndex(c.mapKey(field))
	if !entry.IsValid() {
		return ""
	}
	text := textOf(entry)
	if text == "" && entry.Kind() == reflect.String {
		return emptyLabel
	}
	return text
}

func (c csvColumn) mapKey(field reflect.Value) reflect.Value {
	return reflect.ValueOf(c.key).Convert(field.Type().Key())
}

// csvPrefix is the beginning of headings that name the key of an entry after it.
type csvPrefix struct {
	heading, field string
	offering       bool
}

func csvPrefixes() []csvPrefix {
	return []csvPrefix{
		{heading: "label:", field: "labels"},
		{heading: "offering.label:", field: "labels", offering: true},
		{heading: "capacity:", field: "capacity"},
		{heading: "reserved:", field: "overhead.kubeReserved"},
		{heading: "systemReserved:", field: "overhead.systemReserved"},
		{heading: "evictionThreshold:", field: "overhead.evictionThreshold"},
		{heading: "offering.capacity:", field: "capacity", offering: true},
		{heading: "offering.overhead:", field: "overhead", offering: true},
	}
}

func (p csvPrefix) columnFor(key string) csvColumn {
	return newColumn(p.heading+key, p.field, key, p.offering)
}

// fixedColumns returns the columns that have one name, in the order in which they
// are written.
func fixedColumns() []csvColumn {
	columns := []csvColumn{
		newColumn("name", "name", "", false),
		newColumn("arch", "labels", corev1.LabelArchStable, false),
		newColumn("os", "labels", corev1.LabelOSStable, false),
		newColumn("cpu", "capacity", "cpu", false),
		newColumn("memory", "capacity", "memory", false),
		newColumn("pods", "capacity", "pods", false),
		newColumn("ephemeralStorage", "capacity", "ephemeral-storage", false),
		newColumn("gpu", "capacity", gpuResource, false),
	}
	for _, field := range []string{
		"zone", "capacityType", "price", "unavailable", "interruptionRate", "reservationID", "reservationCount", "reservationUse", "commitment", "rankingSurcharge", "estimated",
	} {
		columns = append(columns, newColumn(field, field, "", true))
	}
	return columns
}

// columnNamed returns the column of a heading. Names without a colon may be
// written in any case.
func columnNamed(heading string) (csvColumn, error) {
	for _, c := range fixedColumns() {
		if strings.EqualFold(c.name, heading) {
			return c, nil
		}
	}
	for _, p := range csvPrefixes() {
		if key, ok := strings.CutPrefix(heading, p.heading); ok && key != "" {
			c := p.columnFor(key)
			if short := shortHeading(c); short != "" {
				return csvColumn{}, fmt.Errorf("has a column of its own, %s", short)
			}
			return c, nil
		}
	}
	return csvColumn{}, errors.New("is not a known column")
}

// shortHeading returns the fixed column that stands for the same field as one with a prefix;
// empty if there is none. Allowing both would leave open which of them counts.
func shortHeading(c csvColumn) string {
	for _, fixed := range fixedColumns() {
		if fixed.path == c.path && fixed.offering == c.offering {
			return fixed.name
		}
	}
	return ""
}

// WriteCSV writes the catalog in the CSV format that the package comment
// describes. Columns that no type needs are left out, except for the common ones.
// [ReadCSV] reads everything back but the provenance, for which the format has no
// place; the same catalog gives the same bytes.
func (c *Catalog) WriteCSV(w io.Writer) error {
	columns := c.csvColumns()
	table := csv.NewWriter(w)
	row := make([]string, len(columns))
	for i, column := range columns {
		row[i] = column.name
	}
	_ = table.Write(row) // the writer keeps its first error
	c.each(func(t *InstanceType, o *offerings.Offering) {
		for i, column := range columns {
			row[i] = ""
			if !column.offering || len(t.Offerings) > 0 {
				row[i] = column.get(t, o)
			}
		}
		_ = table.Write(row)
	})
	table.Flush()
	if err := table.Error(); err != nil {
		return fmt.Errorf("writing CSV catalog: %w", err)
	}
	return nil
}

// csvColumns returns the columns that are needed: the fixed ones as far as anyone
// fills them, then labels and resources by name.
func (c *Catalog) csvColumns() []csvColumn {
	common := []string{"name", "arch", "os", "cpu", "memory", "pods", "zone", "capacityType", "price"}
	var columns []csvColumn
	for _, column := range fixedColumns() {
		used := slices.Contains(common, column.name)
		c.each(func(t *InstanceType, o *offerings.Offering) { used = used || column.get(t, o) != "" })
		if used {
			columns = append(columns, column)
		}
	}
	for _, p := range csvPrefixes() {
		keys, whole := map[string]bool{}, newColumn("", p.field, "", p.offering)
		c.each(func(t *InstanceType, o *offerings.Offering) {
			for _, key := range whole.field(t, o).MapKeys() {
				keys[key.String()] = true
			}
		})
		delete(keys, corev1.LabelInstanceTypeStable) // it is the name
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if column := p.columnFor(key); shortHeading(column) == "" {
				columns = append(columns, column)
			}
		}
	}
	return columns
}

// each visits every offering; a type without any comes with an empty one.
func (c *Catalog) each(visit func(t *InstanceType, o *offerings.Offering)) {
	for t := range c.All() {
		for i := range t.Offerings {
			visit(t, &t.Offerings[i])
		}
		if len(t.Offerings) == 0 {
			visit(t, &offerings.Offering{})
		}
	}
}
