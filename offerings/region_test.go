package offerings_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/offerings"
)

func TestRegions(t *testing.T) {
	for zone, region := range map[string]string{"us-east-1a": "us-east-1", "us-east-1-bos-1a": "us-east-1", "europe-west4-b": "europe-west4", "westeurope-2": "westeurope", "westeurope": "westeurope"} {
		assert.True(t, offerings.InRegion(zone, region), zone)
	}
	for zone, region := range map[string]string{"us-east-10a": "us-east-1", "westeurope2-1": "westeurope", "us-east-2a": "us-east-1"} {
		assert.False(t, offerings.InRegion(zone, region), zone)
	}
}
