"""Who answers: chat models and embedders behind two protocols."""
