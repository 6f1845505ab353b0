package instancetypes

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

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
	err := table.Write(row)
	for t := range c.All() {
		for _, o := range t.Offerings {
			for i, column := range columns {
				row[i] = column.get(t, &o)
			}
			if err == nil {
				err = table.Write(row)
			}
		}
		if len(t.Offerings) == 0 && err == nil {
			for i, column := range columns {
				row[i] = ""
				if !column.offering {
					row[i] = column.get(t, nil)
				}
			}
			err = table.Write(row)
		}
	}
	table.Flush()
	if err == nil {
		err = table.Error()
	}
	if err != nil {
		return fmt.Errorf("writing CSV catalog: %w", err)
	}
	return nil
}

// csvColumns returns the columns that are needed: the fixed ones as far as anyone
// fills them, then labels and resources by name.
func (c *Catalog) csvColumns() []csvColumn {
	var columns []csvColumn
	for _, column := range fixedColumns() {
		if isCommon(column.name) || c.uses(column) {
			columns = append(columns, column)
		}
	}
	for _, p := range labelPrefixes() {
		keys := map[string]bool{}
		c.each(func(t *InstanceType, o *offerings.Offering) {
			for key := range *p.labels(t, o) {
				keys[key] = true
			}
		})
		delete(keys, corev1.LabelInstanceTypeStable) // it is the name
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if shortHeading(p.heading+key) == "" {
				columns = append(columns, p.column(key))
			}
		}
	}
	for _, p := range resourcePrefixes() {
		names := map[corev1.ResourceName]bool{}
		c.each(func(t *InstanceType, o *offerings.Offering) {
			for name := range *p.list(t, o) {
				names[name] = true
			}
		})
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if shortHeading(p.heading+string(name)) == "" {
				columns = append(columns, p.column(string(name)))
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

func (c *Catalog) uses(column csvColumn) bool {
	used := false
	c.each(func(t *InstanceType, o *offerings.Offering) { used = used || column.get(t, o) != "" })
	return used
}

// isCommon names the columns that are written even if they are empty.
func isCommon(name string) bool {
	switch name {
	case "name", "arch", "os", "cpu", "memory", "pods", "zone", "capacityType", "price":
		return true
	}
	return false
}
