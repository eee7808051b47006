"""The collector: receives reports over HTTP, stores them durably, and shows models of their sum."""
