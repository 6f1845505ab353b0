package provisioning_test

import (
	"flag"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// go test ./scheduling/provisioning -run TestScenarios -rewrite writes the expected output anew.
var _ = flag.Bool("rewrite", false, "write the output of scenarios anew")

// The scenarios read as documentation: each says what it shows, and what is planned.
func TestScenarios(t *testing.T) {
	schedulingtest.RunScenarios(t, "testdata/scenarios")
}
