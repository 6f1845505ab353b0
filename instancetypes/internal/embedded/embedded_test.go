package embedded

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// count is a file of facts that must not be negative.
type count struct{ N int }

func (c *count) Validate() error {
	if c.N < 0 {
		return errors.New("negative")
	}
	return nil
}

func testFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	data, err := Encode(&count{1})
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

func TestRegionReadsFacts(t *testing.T) {
	var c count
	require.NoError(t, Region(testFiles(t), "ec2", "us-east-1", &c))
	assert.Equal(t, count{1}, c)
	require.ErrorContains(t, Region(testFiles(t), "ec2", "us-west-2", &c), "region-us-west-2: ")
	require.Error(t, Read(testFiles(t), "missing", &c))
	_, err := Encode(&count{-1})
	require.ErrorContains(t, err, "negative")
}

// Decoding any file returns valid facts or an error.
func FuzzDecode(f *testing.F) {
	data, err := Encode(&count{1})
	require.NoError(f, err)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var c count
		if Decode(data, &c) == nil {
			require.GreaterOrEqual(t, c.N, 0)
		}
	})
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
		require.ErrorContains(t, Region(testFiles(t), "ec2", tt.region, &count{}), tt.want, tt.region)
	}
	files := testFiles(t)
	delete(files, "data/region-us-west-2.gz")
	require.EqualError(t, Region(files, "azure", "mars", &count{}), `azure region "mars": no such catalog; the regions are ap-south-1, eu-central-1, us-east-1`)
}
