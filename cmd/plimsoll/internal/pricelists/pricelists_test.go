package pricelists_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/pricelists"
	"github.com/plimsoll-go/plimsoll/instancetypes"
)

func catalog(t *testing.T, rows string) *instancetypes.Catalog {
	t.Helper()
	c, err := instancetypes.ReadCSV(strings.NewReader("name,cpu,memory,pods,zone,capacityType,price\n" + rows))
	require.NoError(t, err)
	return c
}

func TestCompareByType(t *testing.T) {
	a := catalog(t, "m.large,2,7.4Gi,29,a,on-demand,0.1\nm.large,2,7.4Gi,29,b,on-demand,0.09\nm.large,2,7.4Gi,29,a,spot,0.03\nm.xlarge,4,14.8Gi,58,a,on-demand,0.2\nold,2,4Gi,20,a,on-demand,0.05\n")
	b := catalog(t, "m.large,2,7.4Gi,29,x,on-demand,0.099\nm.xlarge,4,14.8Gi,58,x,on-demand,0.2\nm.xlarge,4,14.8Gi,58,x,spot,0.05\n")
	got := pricelists.Compare(a, b)
	assert.Equal(t, [][]string{
		{"INSTANCE TYPE", "ON-DEMAND A", "ON-DEMAND B", "B TO A"},
		{"m.large", "$0.0900", "$0.0990", "+10.0%"},
		{"m.xlarge", "$0.2000", "$0.2000", "0%"},
	}, got.Rows)
	assert.Equal(t, []string{
		"on-demand: 2 instance types in both; B is cheaper for 0 and equal for 1, +10.0% in the median (0% to +10.0%); 1 only in A, 0 only in B.",
		"spot: none in both; 1 only in A, 1 only in B.",
	}, got.Notes)
}

// Where no type has the same name, machines are told by what they have.
func TestCompareByShape(t *testing.T) {
	a := catalog(t, "m.xlarge,4,14.8Gi,58,a,on-demand,0.2\nold.xlarge,4,14.8Gi,58,a,on-demand,0.3\n")
	b := catalog(t, "n2-standard-4,4,14.88Gi,110,x,on-demand,0.15\nn2-standard-8,8,29.76Gi,110,x,on-demand,0.3\n")
	got := pricelists.Compare(a, b)
	require.Len(t, got.Rows, 2)
	assert.Equal(t, []string{"SHAPE", "CHEAPEST OF A", "CHEAPEST OF B", "ON-DEMAND A", "ON-DEMAND B", "B TO A"}, got.Rows[0])
	assert.Equal(t, []string{"m.xlarge", "n2-standard-4", "$0.2000", "$0.1500", "-25.0%"}, got.Rows[1][1:])
	assert.Contains(t, got.Rows[1][0], "4 cores, 16 GiB")
	assert.Contains(t, got.Notes[0], "0 only in A, 1 only in B")
}
