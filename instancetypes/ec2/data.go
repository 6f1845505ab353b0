package ec2

import "embed"

// files holds the tables that the command in instancetypes/gen writes: shapes.gz and
// one region-NAME.gz for each region.
//
//go:embed data/*.gz
var files embed.FS
