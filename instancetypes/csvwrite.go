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
			if column := p.column(key); shortHeading(column) == "" {
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
