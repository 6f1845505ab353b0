// Package openmetrics writes metrics in the text format of OpenMetrics 1.0, which Prometheus reads. Text of gauges alone
// is also valid in Prometheus's own text format, the one that the Pushgateway and node_exporter's textfile collector read.
package openmetrics
