package embedded

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/compact"
)

func testFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	table := &compact.Table{Columns: []compact.Column{{Name: "a", Cells: []string{"1"}}}}
	data, err := table.Encode()
	require.NoError(t, err)
	return fstest.MapFS{
		"data/region-us-east-1.gz":    {Data: data},
		"data/region-ap-south-1.gz":   {Data: data},
		"data/region-us-west-2.gz":    {Data: []byte("damaged")},
		"data/region-eu-central-1.gz": {Data: data},
		"data/shapes.gz":              {Data: data},
		"data/region-notes.txt":       {},
	}
}

func TestRegions(t *testing.T) {
	assert.Equal(t, []string{"ap-south-1", "eu-central-1", "us-east-1", "us-west-2"}, Regions(testFiles(t)))
	assert.Empty(t, Regions(fstest.MapFS{}))
}

func TestRegionReadsATable(t *testing.T) {
	table, err := Region(testFiles(t), "ec2", "us-east-1")
	require.NoError(t, err)
	assert.Equal(t, 1, table.Rows())

	_, err = Region(testFiles(t), "ec2", "us-west-2")
	require.ErrorContains(t, err, "region-us-west-2: decode table: ")

	_, err = Table(testFiles(t), "missing")
	require.Error(t, err)
}

func TestUnknownRegionProposesNames(t *testing.T) {
	for _, tt := range []struct{ region, want string }{
		{"us-east1", `ec2 region "us-east1": no such catalog; close names are us-east-1`},
		{"us-west-1", "close names are us-west-2, us-east-1"},
		{"US-East-1", `close names are us-east-1`},
		{"us-east-1a", "close names are us-east-1"},
		{"frankfurt", `ec2 region "frankfurt": no such catalog among 4`},
		{"", `ec2 region "": no such catalog among 4`},
		{"../shapes", "no such catalog"},
		{strings.Repeat("us-east-1", 9999), "…\": no such catalog"},
	} {
		_, err := Region(testFiles(t), "ec2", tt.region)
		require.ErrorContains(t, err, tt.want, tt.region)
	}
	files := testFiles(t)
	delete(files, "data/region-us-west-2.gz")
	_, err := Region(files, "azure", "mars")
	require.EqualError(t, err, `azure region "mars": no such catalog; the regions are ap-south-1, eu-central-1, us-east-1`)
}
