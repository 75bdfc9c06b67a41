"""The local judge: its agreement with people and with other judges."""
