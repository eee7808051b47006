"""The collector: takes reports over HTTP, keeps them durably, shows what can be learned from their sum."""
