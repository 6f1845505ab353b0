// Package metrics writes a consolidation plan as metrics for Prometheus, in the text format of OpenMetrics 1.0. All
// metrics are gauges, so that the text is valid in Prometheus's own text format, too, which is the one that the
// Pushgateway and node_exporter's textfile collector read.
package metrics
