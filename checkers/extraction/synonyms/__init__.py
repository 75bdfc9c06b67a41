"""syn: a replacement for each entity (oracle-checker, section 3.1 and appendix A.2)."""
